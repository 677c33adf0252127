// What changed from one run to another.
#include "review/compare.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "golden_messages.h"
#include "mentions.h"
#include "model/record/finding_ids.h"
#include "report/formats/json.h"
#include "report/formats/run_summary.h"
#include "report/record/journal_line.h"
#include "run_builder.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A whole green run of the cases "a" to "d", of which a test changes what it is about.
RunView Green() {
  RunView view;
  view.source = "old.json";
  view.verdict = "passed";
  view.exit_code = 0;
  view.complete = true;
  view.timestamp = "2026-01-31T10:00:00Z";
  view.driver = "580.65.06";
  view.gpus = {"NVIDIA H200"};
  view.matrix_sha256 = "abc";
  view.libraries = {{"toolkit", "12.4"}, {"cuDNN of system", "9.1.0"}};
  for (const char* id : {"a", "b", "c", "d"}) view.cases[{id}].standing = Standing::kPassed;
  return view;
}

RunView With(const std::string& id, Standing standing, bool required = true) {
  RunView view = Green();
  CaseView& changed = view.cases[{id}];
  changed.standing = standing;
  changed.required = required;
  changed.reason = "why";
  return view;
}

std::vector<std::string> Ids(const std::vector<CaseChange>& changes) {
  std::vector<std::string> ids;
  for (const CaseChange& change : changes)
    ids.push_back((change.ref.empty() ? "(the run)" : DisplayId(change.ref)) +
                  (change.counts ? "" : " (not)"));
  return ids;
}

TEST(Compare, TheSameIsNotWorse) {
  const Comparison c = Compare(Green(), Green());
  EXPECT_EQ(ExitCodeOf(c), 0);
  EXPECT_EQ(c.unchanged, 4u);
  EXPECT_THAT(c.failing, IsEmpty());
  EXPECT_THAT(c.libraries, IsEmpty());
}

TEST(Compare, WhatFailsAndDidNotIsWorse) {
  for (const Standing before :
       {Standing::kPassed, Standing::kSkipped, Standing::kBlocked, Standing::kNotRun, Standing::kWaived}) {
    const Comparison c = Compare(With("b", before), With("b", Standing::kFailed));
    EXPECT_THAT(Ids(c.failing), ElementsAre("b")) << Name(before);
    EXPECT_EQ(ExitCodeOf(c), 1) << Name(before);
  }
  EXPECT_EQ(ExitCodeOf(Compare(With("b", Standing::kFailed), With("b", Standing::kFailed))), 0);
}

TEST(Compare, ANewErrorAboutTheRunIsWorseThoughBothAreRed) {
  RunView before = Green(), after = Green();
  before.exit_code = after.exit_code = 1;
  before.run_errors = {{"undetermined.part-missing", "shard 1/2"}};
  after.run_errors = before.run_errors;
  EXPECT_EQ(ExitCodeOf(Compare(before, after)), 0);
  after.run_errors["undetermined.part-missing"] = "shard 2/2";
  EXPECT_EQ(ExitCodeOf(Compare(before, after)), 0) << "one of the same name";
  after.run_errors["runner.worker-not-started"] = "no process";
  const Comparison c = Compare(before, after);
  EXPECT_THAT(Ids(c.failing), ElementsAre("(the run)"));
  EXPECT_EQ(c.failing[0].after, "runner.worker-not-started: no process");
  EXPECT_EQ(ExitCodeOf(c), 1);
  EXPECT_THAT(Ids(Compare(after, before).fixed), ElementsAre("(the run)"));
}

TEST(Compare, ASkipThatClosesTheGateIsWorseThanOneThatWasAllowed) {
  RunView before = With("b", Standing::kSkipped), after = before;
  before.exit_code = after.exit_code = 1;
  EXPECT_EQ(ExitCodeOf(Compare(before, after)), 0);
  after.cases[{"b"}].skip_not_allowed = true;
  EXPECT_THAT(Ids(Compare(before, after).skipped), ElementsAre("b"));
  EXPECT_EQ(ExitCodeOf(Compare(before, after)), 1);
  EXPECT_EQ(ExitCodeOf(Compare(after, after)), 0);
  // A case that is new.
  before.cases.erase(CaseRef{"b"});
  EXPECT_THAT(Ids(Compare(before, after).skipped), ElementsAre("b"));
}

TEST(Compare, ANewCaseThatFailsIsWorse) {
  RunView after = With("new", Standing::kFailed);
  EXPECT_EQ(ExitCodeOf(Compare(Green(), after)), 1);
  after.cases[{"new"}].standing = Standing::kPassed;
  const Comparison c = Compare(Green(), after);
  EXPECT_EQ(ExitCodeOf(c), 0);
  EXPECT_EQ(c.added, 1u);
}

TEST(Compare, ADigestThatIsNoneIsNotCutInACharacter) {
  RunView before = Green(), after = Green();
  before.matrix_sha256 = "aaaaaaaaaaaaaaa\xE2\x82\xAC";
  const std::vector<std::string> notes = Compare(before, after).notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(IsValidUtf8(notes.front())) << notes.front();
}

TEST(Compare, WhatIsNotJudgedAnyMoreIsWorse) {
  for (const Standing before : {Standing::kPassed, Standing::kFailed, Standing::kWaived}) {
    for (const Standing after : {Standing::kSkipped, Standing::kBlocked, Standing::kNotRun}) {
      const Comparison c = Compare(With("b", before), With("b", after));
      EXPECT_THAT(Ids(c.skipped), ElementsAre("b"));
      EXPECT_EQ(ExitCodeOf(c), 1) << Name(before) << Name(after);
    }
  }
  EXPECT_EQ(ExitCodeOf(Compare(With("b", Standing::kSkipped), With("b", Standing::kBlocked))), 0);
}

TEST(Compare, ACaseThatIsGoneIsWorseUnlessTheMatrixIsAnother) {
  RunView after = Green();
  after.cases.erase(CaseRef{"c"});
  EXPECT_THAT(Ids(Compare(Green(), after).skipped), ElementsAre("c"));
  EXPECT_EQ(ExitCodeOf(Compare(Green(), after)), 1);
  after.matrix_sha256 = "def";
  const Comparison c = Compare(Green(), after);
  EXPECT_THAT(Ids(c.skipped), ElementsAre("c (not)"));
  EXPECT_EQ(ExitCodeOf(c), 0);
  EXPECT_THAT(c.notes, ElementsAre(AllOf(HasSubstr("(sha256 abc"), HasSubstr("(sha256 def"))));
  GoldenMessages("compare.txt").Row("another matrix", c.notes[0]);
}

TEST(Compare, WhatIsRepairedIsFixed) {
  const Comparison c = Compare(With("b", Standing::kFailed), Green());
  EXPECT_THAT(Ids(c.fixed), ElementsAre("b"));
  EXPECT_EQ(ExitCodeOf(c), 0);
}

TEST(Compare, OptionalAndWaivedCasesDoNotCount) {
  const Comparison optional =
      Compare(With("b", Standing::kPassed, false), With("b", Standing::kFailed, false));
  EXPECT_THAT(Ids(optional.failing), ElementsAre("b (not)"));
  EXPECT_EQ(ExitCodeOf(optional), 0);
  const Comparison waived = Compare(Green(), With("b", Standing::kWaived));
  EXPECT_THAT(Ids(waived.failing), ElementsAre("b (not)"));
  EXPECT_EQ(ExitCodeOf(waived), 0);
  // What was required counts, whatever the new matrix calls it.
  EXPECT_EQ(ExitCodeOf(Compare(Green(), With("b", Standing::kFailed, false))), 1);
}

TEST(Compare, ARedVerdictAfterAGreenOneIsWorseWithoutAnyCase) {
  RunView after = Green();
  after.exit_code = 6;
  after.verdict = "inconclusive";
  EXPECT_EQ(ExitCodeOf(Compare(Green(), after)), 1);
  EXPECT_EQ(ExitCodeOf(Compare(after, after)), 0);
}

TEST(Compare, WhatIsNotAlikeIsNotComparable) {
  RunView torn = Green();
  torn.complete = false;
  EXPECT_EQ(ExitCodeOf(Compare(torn, Green())), 2);
  EXPECT_EQ(ExitCodeOf(Compare(Green(), torn)), 0) << "what it did not judge would show";
  RunView part = Green();
  part.partial = "filtered";
  EXPECT_EQ(ExitCodeOf(Compare(Green(), part)), 2);
  EXPECT_EQ(ExitCodeOf(Compare(part, part)), 0);
  RunView other = Green();
  other.cases = {{CaseRef{"x"}, {}}};
  EXPECT_EQ(ExitCodeOf(Compare(Green(), other)), 2);
  RunView system = Green(), venv = Green();
  system.cases = {{CaseRef{"cudnn.load[subject=system]"}, {}}};
  venv.cases = {{CaseRef{"conv.forward[algo=auto,subject=opt_venv,x=1]"}, {}}};
  EXPECT_THAT(GoldenMessages("compare.txt").Row("another subject", Compare(system, venv).not_comparable),
              Mentions("subject system", "subject opt_venv"));
}

TEST(Compare, LibrariesThatChangedAreNamed) {
  RunView after = Green();
  after.driver = "590.1";
  after.libraries = {{"toolkit", "12.4"}, {"cuDNN of system", "9.2.0"}, {"cuDNN of torch", "9.3.0"}};
  std::vector<std::string> texts;
  for (const LibraryChange& l : Compare(Green(), after).libraries)
    texts.push_back(l.label + ": " + l.before + " -> " + l.after);
  EXPECT_THAT(texts, ElementsAre("cuDNN of system: 9.1.0 -> 9.2.0", "cuDNN of torch: none -> 9.3.0",
                                 "driver: 580.65.06 -> 590.1"));
}

// Forty cases of which each took about as long as its number, by a wobble of `noise`.
RunView Timed(double noise, int seed) {
  RunView view = Green();
  for (int i = 0; i < 40; ++i) {
    CaseView& one = view.cases[{"conv" + std::to_string(i)}];
    one.standing = Standing::kPassed;
    one.speed["milliseconds"] = {(i + 1) * (1 + noise * std::sin(seed + i * 1.7)), "ms", false};
    one.speed["tflops"] = {100.0 / (i + 1), "TFLOP/s", true};
  }
  return view;
}

TEST(Compare, SlowerIsWhatIsBeyondTheNoiseOfAll) {
  RunView after = Timed(0.05, 2);
  EXPECT_THAT(Compare(Timed(0.05, 1), after).slower, IsEmpty());
  after.cases[{"conv7"}].speed["milliseconds"].value *= 3;
  after.cases[{"conv8"}].speed["tflops"].value /= 3;
  after.cases[{"conv9"}].speed["milliseconds"].value /= 3;
  const Comparison c = Compare(Timed(0.05, 1), after);
  EXPECT_THAT(Ids(c.slower), ElementsAre("conv7 (not)", "conv8 (not)"));
  EXPECT_THAT(Ids(c.faster), ElementsAre("conv9"));
  EXPECT_EQ(ExitCodeOf(c), 0) << "one run each may have been a bad day";
  EXPECT_EQ(ExitCodeOf(Compare(Timed(0.05, 1), after, {Timed(0.05, 3)})), 1);
}

TEST(Compare, OnANoisyMachineThatIsNoNews) {
  RunView after = Timed(0.6, 9);
  for (int i = 0; i < 40; ++i) after.cases[{"conv" + std::to_string(i)}].speed.erase("tflops");
  after.cases[{"conv7"}].speed["milliseconds"].value *= 1.5;
  EXPECT_THAT(Compare(Timed(0.6, 1), after).slower, IsEmpty());
}

TEST(Compare, LessThanAFifthIsNoNews) {
  RunView after = Timed(0, 1);
  after.cases[{"conv7"}].speed["milliseconds"].value *= 1.19;
  EXPECT_THAT(Compare(Timed(0, 1), after).slower, IsEmpty());
  after.cases[{"conv7"}].speed["milliseconds"].value *= 1.02;
  EXPECT_THAT(Ids(Compare(Timed(0, 1), after).slower), ElementsAre("conv7 (not)"));
}

TEST(Compare, AllSlowerIsSlower) {
  RunView after = Timed(0.01, 2);
  for (auto& [id, one] : after.cases)
    for (auto& [name, speed] : one.speed) speed.value *= speed.higher_is_better ? 0.6 : 1.6;
  EXPECT_EQ(Compare(Timed(0.01, 1), after).slower.size(), 80u);
}

TEST(Compare, RepeatedRunsTellTheNoise) {
  const auto with = [](double ms) {
    RunView view = Green();
    view.cases[{"a"}].speed["milliseconds"] = {ms, "ms", false};
    return view;
  };
  EXPECT_THAT(Compare(with(1), with(1.5)).speed, HasSubstr("too few"));
  EXPECT_THAT(Ids(Compare(with(1), with(1.5), {with(1.1)}).slower), ElementsAre("a"));
  RunView before = with(1), after = with(1.5);
  before.cases[{"a"}].required = after.cases[{"a"}].required = false;
  const Comparison optional = Compare(before, after, {with(1.1)});
  EXPECT_THAT(Ids(optional.slower), ElementsAre("a (not)"));
  EXPECT_EQ(ExitCodeOf(optional), 0);
  EXPECT_THAT(Compare(with(1), with(1.5), {with(1.1), with(1.4)}).slower, IsEmpty());
  EXPECT_THAT(Compare(with(1), with(0.7), {with(0.8)}).faster, IsEmpty());
}

TEST(Compare, OtherGpusOrDriversAreNotTimed) {
  RunView after = Timed(0, 1);
  after.cases[{"conv7"}].speed["milliseconds"].value *= 9;
  after.driver = "590.1";
  EXPECT_THAT(Compare(Timed(0, 1), after).slower, IsEmpty());
  EXPECT_THAT(Compare(Timed(0, 1), after).speed, HasSubstr("(580.65.06, 590.1)"));
  after.driver = "580.65.06";
  after.gpus = {"Tesla T4"};
  EXPECT_THAT(Compare(Timed(0, 1), after).slower, IsEmpty());
  EXPECT_THAT(Compare(Timed(0, 1), after).speed, HasSubstr("the GPUs differ"));
}

TEST(Compare, TimesOfASharedGpuAreNotThoseOfOneAlone) {
  RunView after = Timed(0, 1);
  after.cases[{"conv7"}].speed["milliseconds"].value *= 9;
  EXPECT_EQ(Compare(Timed(0, 1), after).slower.size(), 1u);
  after.workers_per_gpu = 4;
  EXPECT_THAT(Compare(Timed(0, 1), after).slower, IsEmpty());
  EXPECT_THAT(Compare(Timed(0, 1), after).speed, HasSubstr("1 and 4 processes"));
}

TEST(CompareText, NothingThatRunsSayCanSteerAReader) {
  const Scratch scratch;
  const std::string path = scratch.Write(
      "report.json", R"({"schema": "cudnn-ci/report/1", "exit_code": 1, "complete": true, "cases": [
      {"id": "a", "outcome": "passed"}, {"id": "b\u001b[31m\n`@all` <b>", "outcome": "failed", "reason": "x\n::error::`y`",
      "findings": [{"severity": "error", "slug": "s", "blame": "image", "detail": "x\u001b[31m\n::error::`y`"}]}],
      "verdict": "failed", "warnings": ["w\u001b[31m"], "warning_notices": [{"code": "new"}],
      "root_cause": {"slug": "s", "blame": "image", "detail": "d\u001b[31m", "case": "b\u001b[31m@gpu1"}})");
  Result<RunView> after = ReadRun(path);
  ASSERT_TRUE(after.ok()) << after.error();
  EXPECT_EQ(after->headline_cause, "image.s: d");
  EXPECT_EQ(after->root_case, (CaseRef{"b", "gpu1"}));
  EXPECT_EQ(*after->warnings.begin(), "w");
  const Comparison c = Compare(Green(), *after);
  ASSERT_EQ(c.failing.size(), 1u);
  for (const std::string& text : {CompareText(c, 50), CompareMarkdown(c, 50)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\n::error"), std::string::npos);
  }
  EXPECT_THAT(CompareMarkdown(c, 50), HasSubstr("'@all'"));
  EXPECT_THAT(CompareText(c, 0), HasSubstr("and 1 more"));
}

TEST(CompareText, JsonHoldsAll) {
  const Comparison c = Compare(With("c", Standing::kFailed), With("b", Standing::kFailed));
  const nlohmann::json j = nlohmann::json::parse(CompareJson(c));
  EXPECT_EQ(j["schema"], "cudnn-ci/compare/1");
  EXPECT_EQ(j["exit_code"], 1);
  EXPECT_EQ(j["newly_failing"][0]["case"], "b");
  EXPECT_EQ(j["fixed"][0]["before"], "failed: why");
  EXPECT_TRUE(j["not_comparable"].is_null());
}

// A run with a case of every standing, and speeds.
RunBuilder EveryStanding() {
  RunBuilder b;
  b.waivers = {{"conv.waived", "slow", "known", "me", "2999-01-01"}};
  b.Pass("conv.passed");
  b.Fail("conv.failed", Wrong("wrong-value", Blame::kImage));
  b.Fail("conv.waived", Wrong("slow", Blame::kImage));
  b.Plan("conv.skipped").required = false;
  b.End("conv.skipped", Skipped{SkipKind::kMemory, "9 GiB", "8 GiB"});
  b.Plan("conv.blocked");
  b.End("conv.blocked", Blocked{"conv.failed"});
  b.Plan("conv.unclean");
  b.End("conv.unclean", Passed{}, {Wrong("context-broken", Blame::kImage)});
  b.Plan("conv.second", Layer::kConvolution, "gpu1");
  b.Add(AttemptStarted{{"conv.second", "gpu1"}, 1, 1, AttemptMode::kAlone});
  b.Add(Measured{{"conv.second", "gpu1"}, "milliseconds", 1.5, "ms", "lower"});
  b.Add(Measured{{"conv.second", "gpu1"}, "max_error", 0.5, "", "lower"});
  b.Add(Measured{{"conv.second", "gpu1"}, "workspace", 5, "B", "lower"});
  b.Add(Measured{{"conv.second", "gpu1"}, "tflops", 7, "TFLOP/s", "higher"});
  b.Add(AttemptFinished{{"conv.second", "gpu1"}, 1, 1, Passed{}, 0.5, "", ""});
  b.Add(CaseFinished{{"conv.second", "gpu1"}, Passed{}, 0.5, {}});
  return b;
}

class RunViewTest : public testing::Test {
 protected:
  RunViewTest() : folder_(testing::TempDir() + "run_view_test." + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~RunViewTest() override { std::filesystem::remove_all(folder_); }
  RunView Read(const std::string& name) {
    Result<RunView> view = ReadRun(folder_ + "/" + name);
    EXPECT_TRUE(view.ok()) << view.error();
    return view.ok() ? *view : RunView();
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(folder_ + "/" + name, text).ok());
  }
  std::string folder_;
};

TEST_F(RunViewTest, TellsErrorsAboutTheRunWarningsAndSkipsThatCloseTheGate) {
  RunBuilder b;
  b.Pass("conv.passed");
  b.Plan("conv.skipped");
  b.End("conv.skipped", Skipped{SkipKind::kMemory, "9 GiB", "8 GiB"});
  Finding warning = Wrong("worth-a-look", Blame::kRunner);
  warning.severity = Severity::kWarning;
  b.Add(FindingReported{{}, warning});
  b.Add(FindingReported{{}, Wrong("worker-not-started", Blame::kRunner)});
  warning.blame = Blame::kImage;
  for (const char* id : {"cudnn.a", "cudnn.b"}) b.Plan(id), b.End(id, Passed{}, {warning});
  b.run.warnings = {OtherNotice("a sentence"), OtherNotice("a sentence")};
  std::string journal, chain;
  for (const Event& event : b.Events()) journal += EncodeEvent(event, &chain);
  Write("journal.jsonl", journal);
  ASSERT_TRUE(WriteJsonReport(b.Summarize(), folder_ + "/report.json").ok());
  for (const RunView& view : {Read("journal.jsonl"), Read("report.json")}) {
    EXPECT_THAT(view.run_errors, ElementsAre(testing::Pair("runner.worker-not-started", "seen")));
    EXPECT_TRUE(view.cases.at({"conv.skipped"}).skip_not_allowed);
    EXPECT_FALSE(view.cases.at({"conv.passed"}).skip_not_allowed);
    EXPECT_THAT(view.warnings, ElementsAre("a sentence", "image.worth-a-look", "runner.worth-a-look"));
  }
}

TEST_F(RunViewTest, IsTheSameFromTheJournalAndFromTheReport) {
  const RunBuilder b = EveryStanding();
  std::string journal, chain;
  for (const Event& event : b.Events()) journal += EncodeEvent(event, &chain);
  Write("journal.jsonl", journal);
  ASSERT_TRUE(WriteJsonReport(b.Summarize(), folder_ + "/report.json").ok());
  const RunView one = Read("journal.jsonl"), other = Read("report.json");
  for (const RunView& view : {one, other}) {
    EXPECT_EQ(view.verdict, "failed");
    EXPECT_EQ(view.exit_code, 1);
    EXPECT_TRUE(view.complete);
    EXPECT_EQ(view.headline_cause, "image.wrong-value: seen");
    EXPECT_EQ(view.gpus, std::vector<std::string>{"NVIDIA H200"});
    EXPECT_EQ(view.driver, "580.65.06");
    const auto standing = [&](const char* id) { return view.cases.at(ParseDisplayId(id)).standing; };
    EXPECT_EQ(standing("conv.passed"), Standing::kPassed);
    EXPECT_EQ(standing("conv.failed"), Standing::kFailed);
    EXPECT_EQ(standing("conv.waived"), Standing::kWaived);
    EXPECT_EQ(standing("conv.skipped"), Standing::kSkipped);
    EXPECT_EQ(standing("conv.blocked"), Standing::kBlocked);
    EXPECT_EQ(standing("conv.unclean"), Standing::kFailed);
    EXPECT_EQ(standing("conv.second@gpu1"), Standing::kPassed);
    EXPECT_FALSE(view.cases.at({"conv.skipped"}).required);
    EXPECT_EQ(view.cases.at({"conv.second", "gpu1"}).speed.size(), 2u);
  }
  EXPECT_EQ(one.libraries, other.libraries);
  const Comparison c = Compare(one, other);
  EXPECT_EQ(ExitCodeOf(c), 0);
  EXPECT_EQ(c.unchanged + c.still_failing, one.cases.size());
}

TEST_F(RunViewTest, WhatIsNoReportIsAnError) {
  Write("other.json", R"({"schema": "cudnn-ci/report/9", "cases": [], "exit_code": 0})");
  Write("half.json", R"({"schema": "cudnn-ci/report/1", "verdict": "passed")");
  Write("caseless.json", R"({"schema": "cudnn-ci/report/1", "exit_code": 0})");
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  Write("deep.json", R"({"schema": "cudnn-ci/report/1", "exit_code": 0, "cases": [], "more": )" + deep + "}");
  EXPECT_NE(ReadRun(folder_ + "/deep.json").error().find("nested"), std::string::npos);
  for (const char* name : {"other.json", "half.json", "caseless.json", "missing.json"})
    EXPECT_FALSE(ReadRun(folder_ + "/" + name).ok()) << name;
}

// A record in it is as good as a line of a journal, or the report is refused.
TEST_F(RunViewTest, AReportWithAMalformedRecordIsRefused) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("cases": [1])", "cases[]: expected an object"},
      {R"("cases": [{"id": 5}])", "cases[].id: expected a string, found number"},
      {R"("cases": [{"outcome": "won"}])", "cases[].outcome: is none of this version's"},
      {R"("cases": [{"outcome": "passed", "measurements": 7}])", "measurements: expected an array"},
      {R"("cases": [], "verdict": "fine")", "report.verdict: unknown value"},
      {R"("cases": [], "findings": [{"severity": "loud"}])", "report.findings[].severity: unknown value"},
      {R"("cases": [], "warnings": ["words alone"])", "report.warning_notices: not one notice"},
      {R"("cases": [], "run": 5)", "run: expected an object"},
      {R"("cases": [], "judged": {"gpu": {}})", "judged.gpu: expected an array"}};
  for (const auto& [rest, message] : rows) {
    Write("odd.json", std::string(R"({"schema": "cudnn-ci/report/1", "exit_code": 0, )") + rest + "}");
    const Result<RunView> view = ReadRun(folder_ + "/odd.json");
    ASSERT_FALSE(view.ok()) << rest;
    EXPECT_THAT(view.error(), testing::StartsWith(folder_ + "/odd.json: " + message));
  }
}

bool operator==(const CaseView& a, const CaseView& b) {
  return a.standing == b.standing && a.required == b.required && a.skip_not_allowed == b.skip_not_allowed &&
         a.errors == b.errors && a.reason == b.reason && a.speed.size() == b.speed.size();
}

// What a report does not hold (which attempt found what, whom a flaky pass is forgiven) is not missed.
TEST_F(RunViewTest, EveryCaseIsTheSameFromTheJournalAndFromTheReport) {
  RunBuilder b = EveryStanding();
  const Finding image = Wrong("wrong-value", Blame::kImage), gpu = Wrong(kGpuComputesWrong, Blame::kRunner);
  b.Plan("conv.flaky").allow_flaky = true;
  b.Attempt({"conv.flaky"}, Failed{}, {image}), b.End("conv.flaky", Passed{}, {}, {Flag::kFlaky});
  b.Plan("conv.unforgiven");
  b.Attempt({"conv.unforgiven"}, Failed{}, {image}), b.End("conv.unforgiven", Passed{}, {}, {Flag::kFlaky});
  b.Plan("conv.two");
  b.End("conv.two", Failed{}, {image, gpu});
  b.Plan("conv.harness");
  b.Attempt({"conv.harness"}, Failed{}, {image});
  b.Add(FindingReported{{"conv.harness"}, gpu}), b.Add(CaseFinished{{"conv.harness"}, Failed{}, 0.25, {}});
  b.Plan("conv.expects");
  b.Add(AttemptStarted{{"conv.expects"}, 1, 1, AttemptMode::kAlone});
  b.Add(ExpectationFailed{{"conv.expects"}, "a.cc", 7, "one is two"});
  b.Add(AttemptFinished{{"conv.expects"}, 1, 1, Failed{}, 0.5, "", ""});
  b.Add(CaseFinished{{"conv.expects"}, Failed{}, 0.5, {}});
  b.Plan("conv.crashed", Layer::kConvolution);
  b.End("conv.crashed", Errored{ErrorKind::kCrashed, "SIGSEGV", CrashSite::kImage});
  b.Plan("conv.lost");
  b.End("conv.lost", Errored{ErrorKind::kDeviceLost, "gone"}, {image});
  b.Plan("conv.allowed").allow_skip = {SkipKind::kVersion};
  b.End("conv.allowed", Skipped{SkipKind::kVersion, "9", "8"});
  b.Plan("conv.not_allowed");
  b.End("conv.not_allowed", Skipped{SkipKind::kVersion, "9", "8"});
  b.Plan("conv.not_run"), b.Add(CaseFinished{{"conv.not_run"}, NotRun{"the time was up"}, 0, {}});
  b.Plan("conv.open");
  std::string journal, chain;
  for (const Event& event : b.Events()) journal += EncodeEvent(event, &chain);
  Write("journal.jsonl", journal);
  ASSERT_TRUE(WriteJsonReport(b.Summarize(), folder_ + "/report.json").ok());
  const RunView one = Read("journal.jsonl"), other = Read("report.json");
  ASSERT_EQ(one.cases.size(), other.cases.size());
  for (const auto& [ref, view] : one.cases) {
    const CaseView& reported = other.cases.at(ref);
    EXPECT_TRUE(view == reported) << ref.id << ": " << view.reason << " / " << reported.reason << ": "
                                  << testing::PrintToString(view.errors) << " / "
                                  << testing::PrintToString(reported.errors);
  }
  EXPECT_EQ(one.warnings, other.warnings);
  EXPECT_EQ(one.run_errors, other.run_errors);
  EXPECT_EQ(one.headline_cause, other.headline_cause);
  EXPECT_EQ(one.root_case, other.root_case);
}

TEST(RunSummaryBaseline, SaysWhatChangedSince) {
  RunBuilder b;
  b.Pass("a").Fail("b", Wrong("wrong-value", Blame::kImage));
  RunSummaryOptions options;
  options.since = ChangesSince(std::make_shared<const RunView>(Green()));
  const Summary summary = b.Summarize();
  const std::string screen = RunSummary(summary, Judge(summary), options);
  EXPECT_THAT(GoldenMessages("summary.txt").Row("since a green run", screen),
              HasSubstr(": none -> /usr/lib"));
  RunView torn = Green();
  torn.complete = false;
  options.since = ChangesSince(std::make_shared<const RunView>(torn));
  EXPECT_THAT(RunSummary(summary, Judge(summary), options), HasSubstr("not comparable"));
  options.since = ChangesSince(nullptr);
  EXPECT_THAT(RunSummary(summary, Judge(summary), options), Not(HasSubstr("since")));
}

TEST(SpeedBaselineTest, HoldsWhatPassedOnTheSameGpuAndDriver) {
  RunView before = Green();
  before.cases[{"a"}].speed["time"] = {2, "ms", false};
  before.cases[{"b"}].speed["time"] = {2, "ms", false};
  before.cases[{"b"}].standing = Standing::kFailed;
  const SpeedBaseline same = SpeedBaselineOf(before, Green());
  EXPECT_EQ(same.why_not, "");
  EXPECT_EQ(same.libraries, "");
  ASSERT_EQ(same.cases.size(), 1u) << "what failed, or measured nothing, is no measure";
  EXPECT_EQ(same.cases.at({"a"}).at("time").value, 2);

  RunView now = Green();
  now.libraries[1].second = "9.2.0";
  EXPECT_EQ(SpeedBaselineOf(before, now).libraries, "cuDNN of system: 9.1.0 -> 9.2.0");
  now.driver = "1";
  EXPECT_EQ(SpeedBaselineOf(before, now).why_not, "the drivers differ (580.65.06, 1)");
  now.gpus = {"other"};
  const SpeedBaseline other = SpeedBaselineOf(before, now);
  EXPECT_EQ(other.why_not, "the GPUs differ (NVIDIA H200; other)");
  EXPECT_TRUE(other.cases.empty());
  before.complete = false;
  EXPECT_EQ(SpeedBaselineOf(before, Green()).why_not, "its run did not finish");
}

TEST(SpeedBaselineTest, HoldsNothingToATimeOfALaunchNorTwiceToTheSame) {
  RunView before = Green();
  before.cases[{"a"}].speed = {
      {"launch", {0.19, "ms", false}}, {"time", {300, "us", false}}, {"rate", {5, "GB/s", true}}};
  before.cases[{"b"}].speed = {{"launch", {0.19, "ms", false}}, {"rate", {5, "GB/s", true}}};
  before.cases[{"c"}].speed = {{"rate", {5, "GB/s", true}}};
  before.cases[{"c"}].standing = Standing::kPassed;
  const SpeedBaseline held = SpeedBaselineOf(before, Green());
  ASSERT_EQ(held.cases.size(), 2u);
  EXPECT_EQ(held.cases.at({"a"}).size(), 1u);
  EXPECT_EQ(held.cases.at({"a"}).count("time"), 1u);
  EXPECT_EQ(held.cases.at({"c"}).count("rate"), 1u);
}

TEST(SpeedBaselineTest, ARunOfSeveralWorkersIsNone) {
  RunView before = Green(), now = Green();
  before.cases[{"a"}].speed["time"] = {2, "ms", false};
  before.workers_per_gpu = now.workers_per_gpu = 4;
  const SpeedBaseline none = SpeedBaselineOf(before, now);
  EXPECT_THAT(none.why_not, testing::ContainsRegex("4 .*--workers-per-gpu 1"));
  EXPECT_TRUE(none.cases.empty());
}

}  // namespace
}  // namespace cudnn_ci
