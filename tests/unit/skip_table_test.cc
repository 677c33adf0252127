// What was skipped, as one table: rows, merged rows, and where they are shown.
#include "report/text/skip_table.h"

#include <gmock/gmock.h>

#include "golden_messages.h"
#include "report/formats/run_summary.h"
#include "report/formats/summary_report.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A convolution of that algorithm and type, with a shape as matrices have them.
void Convolve(RunBuilder* b, const std::string& algo, const std::string& dtype, const std::string& shape,
              const Outcome& outcome, const std::vector<Finding>& findings = {}) {
  const std::string id = "conv.forward[algo=" + algo + ",dtype=" + dtype + ",shape=" + shape + "]";
  CasePlanned& plan = b->Plan(id);
  plan.params = {{"algo", algo},
                 {"dtype", dtype},
                 {"layout", std::string("nchw")},
                 {"shape", shape},
                 {"shape.x", std::vector<int64_t>{1, 2, 3}}};
  plan.allow_skip = {SkipKind::kUnsupported, SkipKind::kMemory};
  b->End(id, outcome, findings);
}

Skipped Unsupported(const std::string& of) {
  return {SkipKind::kUnsupported, "a convolution of " + of, "cause layout; cuDNN 9.19.0 answered 3004"};
}

// Of three algorithms, two types and four shapes: two algorithms lack float64, one of them a shape of
// float32.
RunBuilder ManySkips() {
  RunBuilder b;
  b.Pass("cudnn.init");
  for (const std::string dtype : {"float32", "float64"})
    for (const std::string algo : {"gemm", "fft", "winograd"})
      for (const std::string shape : {"a", "b", "c", "d"}) {
        const bool lacks = dtype == "float64" ? algo != "gemm" : algo == "fft" && shape == "b";
        Convolve(&b, algo, dtype, shape,
                 lacks ? Outcome(Unsupported(algo + " " + dtype + " " + shape)) : Outcome(Passed{}));
      }
  return b;
}

TEST(SkipTableTest, RowsAreByWhatTellsCasesApartWhateverTheirShapes) {
  EXPECT_THAT(
      SkipTable(ManySkips().Summarize()),
      ElementsAre(
          SkipRow{
              "conv.forward", {{"algo", "fft"}, {"dtype", "float32"}}, {{"passed", 3}, {"unsupported", 1}}},
          SkipRow{"conv.forward", {{"algo", "fft"}, {"dtype", "float64"}}, {{"unsupported", 4}}},
          SkipRow{"conv.forward", {{"algo", "winograd"}, {"dtype", "float64"}}, {{"unsupported", 4}}}));
  EXPECT_TRUE(SkipTable(Summary{}).empty());
}

TEST(SkipTableTest, RowsThatSayTheSameAreOne) {
  const std::vector<SkipRow> merged = Merged(SkipTable(ManySkips().Summarize()));
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[1].params.at("algo"), "fft|winograd");
  EXPECT_EQ(merged[1].counts.at("unsupported"), 8);
  EXPECT_THAT(SkipTableLines(merged, 40),
              ElementsAre("passed  unsupported  cases",  //
                          "3       1            conv.forward[algo=fft,dtype=float32]",
                          "-       8            conv.forward[algo=fft|winograd,dtype=float64]"));
}

TEST(SkipTableTest, ARowWithPassesIsNotJoinedWithOneWithout) {
  RunBuilder b;
  for (const std::string shape : {"a", "b"}) {
    Convolve(&b, "fft", "float32", shape, shape == "a" ? Outcome(Unsupported(shape)) : Outcome(Passed{}));
    Convolve(&b, "winograd", "float32", shape, Unsupported(shape));
  }
  EXPECT_EQ(Merged(SkipTable(b.Summarize())).size(), 2u);
}

TEST(SkipTableTest, WhatDoesNotFitIsCounted) {
  const std::vector<SkipRow> rows = SkipTable(ManySkips().Summarize());
  EXPECT_THAT(SkipTableLines(rows, 1),
              ElementsAre("passed  unsupported  cases",  //
                          "-       4            conv.forward[algo=fft,dtype=float64]",
                          "3       5            and 2 more rows"));
}

TEST(SkipTableTest, EveryOutcomeHasItsColumn) {
  RunBuilder b;
  Convolve(&b, "fft", "float32", "a", Unsupported("a"));
  Convolve(&b, "fft", "float32", "b", Skipped{SkipKind::kMemory, "much", "little"});
  Convolve(&b, "fft", "float32", "c", Failed{}, {Wrong("wrong-value", Blame::kImage)});
  Convolve(&b, "fft", "float32", "d", Passed{}, {Wrong("not-repeatable", Blame::kImage)});
  Convolve(&b, "fft", "float32", "e", Blocked{"cudnn.init"});
  EXPECT_THAT(SkipTableLines(SkipTable(b.Summarize()), 40),
              ElementsAre("unsupported  memory  failed  blocked  cases",
                          "1            1       2       1        conv.forward"))
      << "a pass with an error is none";
}

TEST(SkipTableTest, WhatHasManyValuesTellsNoRowsApart) {
  RunBuilder b;
  for (int64_t seed = 0; seed < 20; ++seed) {
    const std::string id =
        "conv.random[dtype=" + std::to_string(seed % 2) + ",seed=" + std::to_string(seed) + "]";
    b.Plan(id).params = {{"dtype", std::to_string(seed % 2)}, {"seed", seed}};
    b.End(id, Unsupported("it"));
  }
  const std::vector<SkipRow> rows = SkipTable(b.Summarize());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].params, (std::map<std::string, std::string>{{"dtype", "0"}}));
  EXPECT_EQ(rows[0].counts.at("unsupported"), 10);
}

TEST(SkipTableTest, SubjectsTellRowsApartWhereThereAreSeveral) {
  RunBuilder b;
  for (const std::string subject : {"system", "<torch>"}) {
    b.Plan("cudnn.jit[subject=" + subject + "]").subject = subject;
    b.End("cudnn.jit[subject=" + subject + "]", Unsupported("it"));
  }
  const Summary summary = b.Summarize();
  EXPECT_EQ(SkipTable(summary)[0].params.at("subject"), "<torch>");
  const std::string html = SkipTableHtml(summary);
  EXPECT_THAT(html, HasSubstr("cudnn.jit[subject=&lt;torch&gt;|system]"));
  EXPECT_THAT(html, Not(HasSubstr("<torch")));
}

TEST(SkipTableTest, TheSummaryHasATableWhereReasonsAreMany) {
  const Summary summary = ManySkips().Summarize();
  const std::string screen = RunSummary(summary, Judge(summary), {});
  EXPECT_THAT(screen, HasSubstr("  passed  unsupported  cases\n"
                                "  3       1            conv.forward[algo=fft,dtype=float32]\n"
                                "  -       8            conv.forward[algo=fft|winograd,dtype=float64]\n"));
  const std::string markdown = SummaryMarkdown(summary, Judge(summary), {});
  EXPECT_THAT(markdown, HasSubstr("\n\n<!-- -->\n\n    passed  unsupported  cases\n"));
  GoldenMessages golden("summary.txt");
  golden.Row("the summary", screen);
  golden.Row("as Markdown", markdown);
}

TEST(SkipTableTest, FewReasonsStayAList) {
  RunBuilder b;
  for (const std::string shape : {"a", "b", "c", "d", "e", "f", "g", "h"})
    Convolve(&b, "fft", "float32", shape, Unsupported(shape));
  const Summary summary = b.Summarize();
  const std::string screen = RunSummary(summary, Judge(summary), {});
  EXPECT_THAT(GoldenMessages("summary.txt").Row("eight of one case each", screen),
              testing::AllOf(HasSubstr(" convolution of a,"), HasSubstr(" convolution of h,")));
  EXPECT_THAT(screen, Not(HasSubstr("passed  unsupported")));
}

}  // namespace
}  // namespace cudnn_ci
