// JUnit: what a case is to a dashboard, and the properties of it and of the run.
#include "report/formats/junit_case.h"

#include <set>

#include "junit_text.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

// What does not close the gate turns no dashboard red; what does, whatever it is called, does.
TEST(JunitCase, AnOptionalFailureIsNoFailureOfTheFile) {
  RunBuilder b;
  b.Pass("conv.needed");
  b.Plan("conv.failed").required = false;
  b.End("conv.failed", Failed{}, {Wrong("wrong-value", Blame::kImage, "3 differ")});
  b.Plan("conv.errored").required = false;
  b.End("conv.errored", Errored{ErrorKind::kTimedOut, "60 s"});
  b.Plan("conv.unclean").required = false;
  b.End("conv.unclean", Passed{}, {Wrong("context-broken", Blame::kImage, "sticky")});
  b.Plan("conv.left_out").required = false;
  b.End("conv.left_out", Skipped{SkipKind::kMemory, "1 GiB", "1 MiB"});
  b.Plan("conv.good").required = false;
  b.End("conv.good", Passed{});
  const std::string text = Render(b.Summarize());
  ExpectCountersMatch(text);
  EXPECT_EQ(CountOf(text, "<failure ") + CountOf(text, "<error "), 0u) << text;
  EXPECT_EQ(CountOf(text, "<skipped "), 4u);
  for (const char* part :
       {"<skipped message=\"optional: wrong-value: 3 differ\"", "repair it.",
        "<skipped message=\"optional: timed-out: 60 s\"",
        "<skipped message=\"optional: context-broken: sticky\"", "<skipped message=\"memory: needs"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  b.Plan("conv.required");
  b.End("conv.required", Passed{}, {Wrong("context-broken", Blame::kImage, "sticky")});
  EXPECT_NE(Render(b.Summarize()).find("<failure message=\"context-broken: sticky\""), std::string::npos);
}

// What a terminal would obey is taken out of a slug, not drawn in it: report.json has the same name.
TEST(JunitCase, ASlugIsCleanedAsInEveryReport) {
  RunBuilder b;
  b.Plan("conv.a");
  b.End("conv.a", Failed{}, {Wrong("\x1b[31mwrong value/\xff", Blame::kImage, "3 differ")});
  const std::string text = Render(b.Summarize());
  EXPECT_NE(text.find("type=\"image.wrong-value--x--\""), std::string::npos) << text;
}

// A longer one would be cut, and so name another file or none.
TEST(JunitCase, APathOfMoreThan300BytesIsNone) {
  for (const size_t length : {300u, 301u}) {
    RunBuilder b;
    const CaseRef ref{"conv.a", ""};
    b.Plan("conv.a");
    b.Add(AttemptStarted{ref, 1, 1, AttemptMode::kAlone});
    b.Add(ExpectationFailed{ref, std::string(length, 'a'), 3, "x == 1"});
    b.Add(AttemptFinished{ref, 1, 1, Failed{}, 0.25, "", ""}).Add(CaseFinished{ref, Failed{}, 0.25, {}});
    EXPECT_EQ(CountOf(Render(b.Summarize()), " file=\"" + std::string(300, 'a') + "\""),
              length == 300 ? 1u : 0u);
  }
}

// xunitparser refuses a file with a name twice in one list.
TEST(JunitCase, NoListHasAPropertyTwice) {
  RunBuilder b;
  b.run.subjects = {{"system", "loader"}, {"venv", "python:/opt/venv/bin/python"}};
  b.run.devices.push_back({"gpu1", "GPU-1", "NVIDIA H200", "9.0"});
  b.run.not_gated = {OtherNotice("the first"), OtherNotice("the second"), OtherNotice("the third")};
  b.run.environment = {{std::string(300, 'e') + "1", "image"}, {std::string(300, 'e') + "2", "runner"}};
  const CaseRef ref{"conv.a", ""};
  b.Plan("conv.a");
  b.Add(AttemptStarted{ref, 1, 1, AttemptMode::kAlone});
  b.Add(Measured{ref, "time", 1, "ms", "lower"}).Add(Measured{ref, "time", 2, "ms", "lower"});
  b.Add(AttemptFinished{ref, 1, 1, Passed{}, 0.25, "", ""}).Add(CaseFinished{ref, Passed{}, 0.25, {}});
  const std::string text = Render(b.Summarize());
  const std::regex list("<properties>[\\s\\S]*?</properties>"), property("<property name=\"([^\"]+)\"");
  size_t lists = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), list), end; at != end; ++at, ++lists) {
    const std::string properties = (*at)[0];
    std::set<std::string> names;
    for (std::sregex_iterator p(properties.begin(), properties.end(), property), none; p != none; ++p)
      EXPECT_TRUE(names.insert((*p)[1]).second) << (*p)[1];
  }
  EXPECT_EQ(lists, 2u);
  for (const char* part :
       {"name=\"judged.subject\"", "name=\"judged.subject.2\"", "name=\"judged.gpu.2\"",
        "name=\"not_gated\" value=\"the first\"", "name=\"not_gated.2\" value=\"the second\"",
        "name=\"not_gated.3\" value=\"the third\"", "name=\"measure.time.2\" value=\"2 ms\""})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace cudnn_ci
