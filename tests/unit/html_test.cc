// The HTML reports: what a reader without scripts sees, what the page's script is given, and that nothing of
// what a run says can be an element or run.
#include "report/formats/html.h"
#include "base/text.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "golden_messages.h"
#include "report/assets/assets.h"
#include "report/record/own_reports.h"
#include "report/text/html_text.h"
#include "report/text/stack_chain.h"
#include "review/page.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kHostile[] = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[31m";

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// From `begin` up to `end`, which follows it; empty if the text has neither.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t at = text.find(begin), to = at == std::string::npos ? at : text.find(end, at);
  return to == std::string::npos ? "" : text.substr(at, to - at);
}

TEST(HtmlText, LeavesNothingThatIsMarkup) {
  const std::string clean = CleanText(kHostile);
  for (const std::string& text : {HtmlLine(clean), HtmlText(clean, 1000)}) {
    EXPECT_EQ(text.find_first_of("<>\"'"), std::string::npos) << text;
    EXPECT_THAT(text, HasSubstr("&lt;/script&gt;"));
  }
  EXPECT_EQ(HtmlLine("a&b"), "a&amp;b");
  EXPECT_EQ(HtmlText("a\nb", 100), "a\nb");
}

TEST(HtmlText, JsonCannotEndItsElementAndReadsBack) {
  const nlohmann::json value = {{"a", "</script><!--&"}};
  const std::string text = JsonInHtml(value.dump());
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), value);
}

TEST(HtmlText, ThePolicyNamesTheVeryStyleAndScript) {
  // printf '%s' 'a{}' | openssl dgst -sha256 -binary | base64
  const std::string head = HtmlHead("m", "t", "a{}", "1");
  EXPECT_THAT(head, HasSubstr("default-src 'none'"));
  EXPECT_THAT(head, HasSubstr("style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='"));
  EXPECT_THAT(head, HasSubstr("script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"));
  EXPECT_THAT(HtmlHead("m", "t", "a{}", ""), Not(HasSubstr("script-src")));
  EXPECT_THAT(HtmlHead("m", kHostile, "a{}", ""), Not(HasSubstr("<script>")));
}

class HtmlReport : public testing::Test {
 protected:
  HtmlReport() : folder_(testing::TempDir() + "html_test." + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~HtmlReport() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name = "report.html") const { return folder_ + "/" + name; }
  // The document of a run.
  std::string Written(const RunBuilder& b) {
    HtmlReporter reporter(Path(), {});
    Fold fold;
    for (const Event& event : b.Events()) {
      fold.Apply(event);
      EXPECT_TRUE(reporter.OnEvent(event, fold.summary()).ok());
    }
    EXPECT_TRUE(reporter.Finish(fold.summary()).ok());
    return ReadSmallFile(Path(), 64 << 20);
  }
  // What the page's script is given.
  static nlohmann::json DataOf(const std::string& html) {
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const size_t from = html.find(begin) + begin.size();
    return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
  }
  std::string folder_;
};

RunBuilder Red() {
  RunBuilder b;
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage, "3 elements differ"), Layer::kConvolution);
  b.Pass("conv.b");
  b.Plan("conv.c").params = {
      {"dtype", std::string("float16")}, {"shape", std::string("stem")}, {"shape.n", int64_t{4}}};
  b.End("conv.c", Blocked{"conv.a"});
  return b;
}

// What a whole red run looks like is a golden file.
TEST_F(HtmlReport, OnlyAPassLooksLikeOneAndTellsNoFindings) {
  RunBuilder b;
  b.Pass("conv.a");
  const std::string green = Written(b);
  EXPECT_THAT(green, HasSubstr("class=\"verdict passed\""));
  EXPECT_THAT(green, Not(HasSubstr("<dt>warning</dt>")));
  EXPECT_EQ(Count(green, "<h3 id="), 0u);
  b.finished = false;
  b.run.timestamp = "yesterday";
  const std::string torn = Written(b);
  EXPECT_THAT(torn, Not(HasSubstr("class=\"verdict passed\"")));
  GoldenMessages("html.txt").Row("a torn run", Between(torn, "<dt>duration</dt>", "</dd>"));
  EXPECT_THAT(torn, HasSubstr("<dt>date</dt><dd>yesterday</dd>"));
}

// One failure among thousands has a width that one sees, and the widths fill the bar.
TEST_F(HtmlReport, TheBarShowsOneAmongThousands) {
  RunBuilder b;
  for (int i = 0; i < 2000; ++i) b.Pass("conv.p" + std::to_string(i));
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage));
  const std::string html = Written(b);
  EXPECT_THAT(html, HasSubstr("<rect x=\"0.00%\" width=\"99.21%\" height=\"18\" class=\"part f-passed\"/>"));
  EXPECT_THAT(html, HasSubstr("<rect x=\"99.21%\" width=\"0.79%\" height=\"18\" class=\"part f-failed\"/>"));
}

// What plugins of others declare may be no address, and there may be many of them.
TEST_F(HtmlReport, OnlyAddressesOfTheWebAreLinksAndFindingsAreBounded) {
  for (const char* text : {"javascript:alert(1)", "data:text/html,x", "//x", "file:///etc/passwd",
                           "https://a b", "https://a\"b", "https://a\nb", "see the page", ""})
    EXPECT_THAT(LinkHtml(text), Not(HasSubstr("<a"))) << text;
  RunBuilder b;
  for (int i = 0; i < 250; ++i)
    b.Fail("conv.a" + std::to_string(i), Wrong("s" + std::to_string(i), Blame::kImage));
  const std::string html = Written(b);
  EXPECT_EQ(Count(html, "<h3 id="), 100u);
  EXPECT_THAT(GoldenMessages("html.txt").Row("150 too many", Between(html, "and 150 ", "<")),
              HasSubstr("report.json"));
}

// A case of a subject that ends like this.
void Ends(RunBuilder* b, const std::string& check, Layer layer, const std::string& subject,
          const Outcome& outcome, const std::vector<Finding>& findings = {}) {
  CasePlanned& planned = b->Plan(check + "[subject=" + subject + "]", layer);
  planned.subject = subject;
  planned.params["dtype"] = std::string("float16");
  b->End(planned.ref, outcome, findings);
}

// The states of a lane's links, in order.
std::vector<LinkState> StatesOf(const ChainLane& lane) {
  std::vector<LinkState> states;
  for (const ChainLink& link : lane.links) states.push_back(link.state());
  return states;
}

TEST(StackChain, NamesTheLinkThatBrokeAndWhatItBlocks) {
  RunBuilder b;
  b.run.subjects = {{"system", "loader"}, {"venv", "python:/opt/venv"}};
  b.Plan("driver.load", Layer::kDriver);
  b.End("driver.load", Passed{});
  for (const char* subject : {"system", "venv"}) {
    const std::string of = subject;
    if (of == "venv")
      Ends(&b, "toolkit.runtime", Layer::kToolkit, of, Failed{},
           {Wrong("toolkit-runtime-missing", Blame::kImage, "no libcudart.so.12")});
    else
      Ends(&b, "toolkit.runtime", Layer::kToolkit, of, Passed{});
    const Outcome rest =
        of == "venv" ? Outcome(Blocked{{"toolkit.runtime[subject=venv]", ""}}) : Outcome(Passed{});
    Ends(&b, "cudnn.init", Layer::kInit, of, rest);
    Ends(&b, "conv.forward", Layer::kConvolution, of, rest);
  }
  const StackChain chain = MakeStackChain(b.Summarize(), b.Judged());
  EXPECT_EQ(chain.machine[1].state(), LinkState::kProven);
  ASSERT_EQ(chain.lanes.size(), 2u);
  EXPECT_EQ(chain.lanes[0].name, "venv") << "the broken one first";
  EXPECT_EQ(StatesOf(chain.lanes[0]),
            (std::vector{LinkState::kBroken, LinkState::kBlocked, LinkState::kNoCase, LinkState::kBlocked}));
  EXPECT_EQ(StatesOf(chain.lanes[1]),
            (std::vector{LinkState::kProven, LinkState::kProven, LinkState::kNoCase, LinkState::kProven}));
  const ChainLink& toolkit = chain.lanes[0].links[0];
  EXPECT_TRUE(toolkit.root);
  EXPECT_EQ(toolkit.blocks, 2);
  ASSERT_EQ(toolkit.broken_by.size(), 1u);
  EXPECT_EQ(toolkit.broken_by[0].finding, "image.toolkit-runtime-missing");
  EXPECT_EQ(toolkit.broken_by[0].detail, "no libcudart.so.12");
  EXPECT_EQ(chain.lanes[1].links[3].checks.at("conv.forward").at("float16").passed, 1);
}

// What a link is as a whole, and where the root cause is, by what became of the cases of cuDNN and
// operations.
struct ChainRow {
  const char* name;
  std::function<void(RunBuilder*)> build;
  LinkState cudnn, operations;
  LinkKind root = LinkKind::kDriver;  // kDriver: no link has it
  int64_t cudnn_blocks = 0;
};

void SkipCudnn(RunBuilder* b) {
  b->Plan("cudnn.load", Layer::kCudnn).allow_skip = {SkipKind::kAbsent};
  b->End("cudnn.load", Skipped{SkipKind::kAbsent, "a cuDNN", "none"});
}
void FailWaived(RunBuilder* b, const char* id, Layer layer) {
  b->waivers.push_back({id, "cudnn-missing", "known", "ana", "2099-12-31"});
  b->Plan(id, layer);
  b->End(id, Failed{}, {Wrong("cudnn-missing", Blame::kImage)});
}
CasePlanned& PlanConv(RunBuilder* b, const char* id) { return b->Plan(id, Layer::kConvolution); }

const std::vector<ChainRow> kChainRows = {
    {"what waits for an allowed skip that its own entry allows is skipped as well",
     [](RunBuilder* b) {
       SkipCudnn(b);
       PlanConv(b, "conv.a").allow_skip = {SkipKind::kAbsent};
       b->End("conv.a", Blocked{{"cudnn.load", ""}});
     },
     LinkState::kSkipped, LinkState::kSkipped},
    {"an allowed skip that the entry of what waits does not allow blocks it",
     [](RunBuilder* b) {
       SkipCudnn(b);
       PlanConv(b, "conv.a");
       b->End("conv.a", Blocked{{"cudnn.load", ""}});
       PlanConv(b, "conv.b");
       b->End("conv.b", Passed{});
     },
     LinkState::kSkipped, LinkState::kBlocked, LinkKind::kOperations, 1},
    {"what waits for a case that is not planned is blocked",
     [](RunBuilder* b) {
       PlanConv(b, "conv.a");
       b->End("conv.a", Blocked{{"cudnn.load", ""}});
     },
     LinkState::kNoCase, LinkState::kBlocked, LinkKind::kOperations},
    {"what waits for a waived failure is blocked, and is the root cause",
     [](RunBuilder* b) {
       FailWaived(b, "cudnn.load", Layer::kCudnn);
       PlanConv(b, "conv.a");
       b->End("conv.a", Blocked{{"cudnn.load", ""}});
     },
     LinkState::kExcused, LinkState::kBlocked, LinkKind::kOperations, 1},
    {"a waived failure beside a pass is no proof",
     [](RunBuilder* b) {
       FailWaived(b, "conv.a", Layer::kConvolution);
       b->Pass("conv.b");
     },
     LinkState::kNoCase, LinkState::kExcused},
    {"an optional failure is excused",
     [](RunBuilder* b) {
       b->Plan("cudnn.load", Layer::kCudnn).required = false;
       b->End("cudnn.load", Failed{}, {Wrong("cudnn-missing", Blame::kImage)});
       b->Pass("conv.b");
     },
     LinkState::kExcused, LinkState::kProven},
    {"a case that did not run beside a pass is no proof",
     [](RunBuilder* b) {
       PlanConv(b, "conv.a");
       b->Pass("conv.b");
     },
     LinkState::kNoCase, LinkState::kNotRun},
    {"a skip that is allowed leaves a pass a proof",
     [](RunBuilder* b) {
       PlanConv(b, "conv.a").allow_skip = {SkipKind::kUnsupported};
       b->End("conv.a", Skipped{SkipKind::kUnsupported, "an engine", "none"});
       b->Pass("conv.b");
     },
     LinkState::kNoCase, LinkState::kProven}};

TEST(StackChain, ALinkIsWhatBecameOfItsCases) {
  for (const ChainRow& row : kChainRows) {
    SCOPED_TRACE(row.name);
    RunBuilder b;
    row.build(&b);
    const StackChain chain = MakeStackChain(b.Summarize(), b.Judged());
    ASSERT_EQ(chain.lanes.size(), 1u);
    const std::vector<ChainLink>& links = chain.lanes[0].links;
    EXPECT_EQ(StatesOf(chain.lanes[0]),
              (std::vector{LinkState::kNoCase, row.cudnn, LinkState::kNoCase, row.operations}));
    for (const ChainLink& link : links) {
      EXPECT_EQ(link.root, link.kind == row.root);
      EXPECT_EQ(link.broken_by.size(), link.root ? 1u : 0u);
    }
    EXPECT_EQ(links[1].blocks, row.cudnn_blocks);
    EXPECT_EQ(chain.lanes[0].broken(), row.root != LinkKind::kDriver);
  }
}

// A number at a mark counts what the mark says; a waived failure is never counted as a pass.
TEST_F(HtmlReport, AMarksNumberCountsWhatTheMarkSays) {
  RunBuilder b;
  for (const char* type : {"float16", "float32"})
    for (int i = 0; i < 3; ++i) {
      CasePlanned& planned = PlanConv(&b, (std::string("conv.forward[") + type + std::to_string(i)).c_str());
      planned.params["dtype"] = std::string(type);
      planned.allow_skip = {SkipKind::kUnsupported};
      planned.required = false;
      const bool fails = i == 2 && std::string(type) == "float32";
      if (fails)
        b.End(planned.ref, Failed{}, {Wrong("wrong-value", Blame::kImage)});
      else
        b.End(planned.ref, i == 0 ? Outcome(Passed{}) : Skipped{SkipKind::kUnsupported, "an engine", "none"});
    }
  const std::string html = Written(b);
  EXPECT_THAT(html, HasSubstr("<td class=\"proven\" title=\"1 passed, 2 skipped\" "
                              "data-find=\"conv.forward dtype=float16\"><span>\u2713</span> 1 of 3</td>"));
  EXPECT_THAT(html, HasSubstr("data-find=\"conv.forward dtype=float32\"><span>!</span> 1 of 3</td>"));
  EXPECT_THAT(html, HasSubstr("<b> failed, waived"));
}

// Operations that have no case are no table, which the keyboard would stop at.
TEST_F(HtmlReport, OperationsWithoutACaseAreNoTable) {
  RunBuilder b;
  Ends(&b, "cudnn.init", Layer::kInit, "system", Passed{});
  EXPECT_THAT(Written(b), Not(HasSubstr("class=\"proof")));
}

TEST_F(HtmlReport, TheChainIsBounded) {
  RunBuilder b;
  b.run.subjects.clear();
  for (int i = 0; i < 40; ++i)
    b.run.facts["system"]["cudnn.copy." + std::to_string(i) + ".path"] = "/opt/" + std::to_string(i) + "/x";
  for (int i = 0; i < 80; ++i) {
    const std::string subject = "venv" + std::to_string(i);
    b.run.subjects.push_back({subject, "python:/opt/" + subject});
    Ends(&b, "conv.a", Layer::kConvolution, subject, Passed{});
  }
  for (int i = 0; i < 40; ++i) Ends(&b, "driver.c" + std::to_string(i), Layer::kDriver, "", Passed{});
  const std::string html = Written(b);
  EXPECT_EQ(Count(html, "class=\"soft unused\""), 32u);
  EXPECT_EQ(Count(html, "<div class=\"lane"), 64u);
  GoldenMessages golden("html.txt");
  EXPECT_NE(golden.Row("80 subjects, 8 of them open", Between(html, "and 72 ", "<")), "");
  EXPECT_NE(golden.Row("16 of them folded into a count", Between(html, ">16 ", "<")), "");
  EXPECT_EQ(Count(html, "data-find=\"driver."), 16u);
  EXPECT_THAT(html, HasSubstr("<li>and 24 more</li>"));
}

TEST_F(HtmlReport, NothingThatARunSaysIsMarkup) {
  RunBuilder b;
  b.run.image = b.run.hostname = b.run.command_line = b.run.matrix_name = kHostile;
  b.run.facts["system"]["cudnn.path"] = b.run.facts["system"]["driver.version"] = kHostile;
  b.run.facts["system"]["driver.library.path"] = b.run.facts["system"]["cudnn.copy.0.path"] = kHostile;
  b.run.subjects[0].spec = b.run.subjects[0].name = b.run.devices[0].model = kHostile;
  const std::string id = std::string("conv.") + kHostile;
  Finding finding = Wrong(kHostile, Blame::kImage, kHostile);
  finding.remedy = finding.summary = kHostile;
  CasePlanned& planned = b.Plan(id);
  planned.subject = planned.check = kHostile;
  planned.params["dtype"] = std::string(kHostile);
  b.Add(AttemptStarted{{id, ""}, 1, 1, AttemptMode::kAlone}).Add(StepReached{{id, ""}, kHostile});
  b.Add(ExpectationFailed{{id, ""}, kHostile, 1, kHostile})
      .Add(Attached{{id, ""}, kHostile, kHostile, kHostile});
  b.Add(FindingReported{{id, ""}, finding});
  b.Add(AttemptFinished{{id, ""}, 1, 1, Failed{}, 1, kHostile, kHostile});
  b.Add(CaseFinished{{id, ""}, Failed{}, 1, {}});
  const std::string html = Written(b);
  EXPECT_EQ(Count(html, "<script"), 2u);
  EXPECT_EQ(Count(html, "</script"), 2u);
  EXPECT_EQ(Count(html, "<img"), 0u);
  EXPECT_EQ(Count(html, "<h1>"), 1u);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(DataOf(html)["cases"][0]["steps"][0],
            "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&");
}

TEST_F(HtmlReport, NeedsNothingFromElsewhere) {
  const std::string html = Written(Red());
  for (const char* word :
       {"src=", "@import", "url(http", "<link", "fetch(", "XMLHttpRequest", "innerHTML", "eval("})
    EXPECT_EQ(html.find(word), std::string::npos) << word;
}

TEST_F(HtmlReport, IsKnownAsOursAndReplacesNothingElse) {
  const std::string html = Written(Red());
  EXPECT_TRUE(IsOwnReport(Path()));
  EXPECT_EQ(FormatOfHead(html.substr(0, 200)), "html");
  ASSERT_TRUE(WriteFileAtomically(Path(), "<!DOCTYPE html>\n<p>mine").ok());
  EXPECT_FALSE(WriteHtmlReport(Red().Summarize(), {}, {}, Path()).ok());
  EXPECT_EQ(ReadSmallFile(Path(), 100), "<!DOCTYPE html>\n<p>mine");
}

TEST_F(HtmlReport, AWithdrawnReportIsGone) {
  Written(Red());
  HtmlReporter(Path(), {}).Withdraw();
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

TEST_F(HtmlReport, OutputOfThousandsOfFailuresIsBounded) {
  RunBuilder b;
  for (int i = 0; i < 1200; ++i) {
    const std::string id = "conv.a" + std::to_string(i);
    b.Plan(id);
    b.Add(AttemptStarted{{id, ""}, 1, 1, AttemptMode::kAlone});
    b.Add(AttemptFinished{{id, ""}, 1, 1, Failed{}, 1, std::string(20'000, 'x'), ""});
    b.Add(CaseFinished{{id, ""}, Failed{}, 1, {}});
  }
  const std::string html = Written(b);
  EXPECT_LT(html.size(), size_t{24} << 20);
  const nlohmann::json data = DataOf(html);
  EXPECT_EQ(data["cases"].size(), 1200u);
  EXPECT_EQ(data["cases"][1199]["output"], "(left out here; report.json has it)");
}

// ---- one page of many images ----

PageRow Row(const std::string& source, const std::string& verdict, int exit_code) {
  PageRow row;
  row.source = source;
  row.view.verdict = verdict;
  row.view.exit_code = exit_code;
  row.view.complete = true;
  row.view.image = "team/" + source;
  row.view.timestamp = "2026-01-31T10:00:00Z";
  row.view.gpus = {"NVIDIA H200", "NVIDIA H200"};
  row.view.libraries = {{"toolkit", "12.4"}, {"cuDNN of system", "9.1.0"}, {"cuDNN of system from", "/x"}};
  return row;
}

constexpr int64_t kThen = 1769853600;  // date -u -d 2026-01-31T10:00:00Z +%s

TEST(Page, ShowsOfEachImageWhatBecameOfIt) {
  PageRow red = Row("b", "failed", 1);
  red.view.blame = "image";
  red.view.headline_cause = "image.wrong-value: 3 differ";
  red.view.root_case = {"conv.a"};
  PageRow unread = Row("c", "", 0);
  unread.problem = "c/report.json: no such file";
  const std::string page = RenderPage({Row("a", "passed", 0), red, unread}, kThen + 3 * 86400);
  EXPECT_THAT(page, HasSubstr("1 of 3 passed"));
  EXPECT_THAT(Between(page, "image.wrong-value", "<"),
              testing::AllOf(HasSubstr(": 3 differ"), HasSubstr(" conv.a")));
  EXPECT_THAT(page, HasSubstr("unreadable"));
  EXPECT_THAT(page, HasSubstr(unread.problem));
  EXPECT_THAT(page, HasSubstr("data-label=\"cuDNN\"><div>9.1.0</div></td><td data-label=\"GPU\"><div>NVIDIA "
                              "H200 x 2</div></td>"));
  EXPECT_THAT(page, HasSubstr(">3 days</div></td>"));
  EXPECT_LT(page.find("team/b"), page.find("team/a")) << "red first";
  EXPECT_EQ(Count(page, "\" class=\"passed\"><div>"), 1u);
}

TEST(Page, LinksToTheReportThatIsThere) {
  PageRow with = Row("a", "passed", 0);
  with.report = "../runs/a:b?c#d e/report.html";
  const std::string page = RenderPage({with, Row("b", "passed", 0)}, kThen);
  EXPECT_THAT(page,
              HasSubstr("<a href=\"../runs/a%3Ab%3Fc%23d%20e/report.html\" rel=\"noreferrer\">team/a</a>"));
  EXPECT_THAT(page, Not(HasSubstr(">team/b</a>")));
}

TEST_F(HtmlReport, IsFoundFromAPage) {
  std::filesystem::create_directories(Path("run"));
  Written(Red());
  std::filesystem::rename(Path(), Path("run/report.html"));
  EXPECT_EQ(ReportBeside(Path("run"), Path("wall")), "../run/report.html");
  EXPECT_EQ(ReportBeside(Path("run"), folder_), "run/report.html");
  EXPECT_EQ(ReportBeside(Path("nowhere"), folder_), "");
  ASSERT_TRUE(WriteFileAtomically(Path("run/report.html"), "<p>mine").ok());
  EXPECT_EQ(ReportBeside(Path("run"), folder_), "") << "not ours";
  std::filesystem::remove(Path("run/report.html"));
  ASSERT_EQ(mkfifo(Path("run/report.html").c_str(), 0600), 0);
  EXPECT_EQ(ReportBeside(Path("run"), folder_), "") << "it would block";
}

TEST(Page, CountsWarningsAndAPassStaysOne) {
  PageRow one = Row("a", "passed", 0), two = Row("b", "passed", 0);
  one.view.warnings = {"runner.xid-logged"};
  two.view.warnings = {"runner.xid-logged", "image.known-regression"};
  const std::string page = RenderPage({one, two, Row("c", "passed", 0)}, kThen);
  EXPECT_THAT(page, HasSubstr("3 of 3 passed"));
  EXPECT_THAT(page, HasSubstr("<strong>passed, 1 warning</strong>"));
  EXPECT_THAT(page, HasSubstr("<strong>passed, 2 warnings</strong>"));
  EXPECT_THAT(page, HasSubstr("<strong>passed</strong>"));
  EXPECT_EQ(Count(page, "\" class=\"passed\"><div>"), 3u);
}

TEST(Page, OnlyAWholePassThatGatesIsGood) {
  for (void (*change)(RunView*) :
       {+[](RunView* v) { v->complete = false; }, +[](RunView* v) { v->partial = "filtered"; },
        +[](RunView* v) { v->report_only = true; }, +[](RunView* v) { v->exit_code = 3; }}) {
    PageRow row = Row("a", "passed", 0);
    change(&row.view);
    const std::string page = RenderPage({row}, kThen);
    EXPECT_THAT(page, HasSubstr("0 of 1 passed"));
    EXPECT_EQ(Count(page, "\" class=\"passed\"><div>"), 0u);
  }
}

TEST(Page, AgesAreTold) {
  const auto age = [](const std::string& timestamp, int64_t now) {
    PageRow row = Row("a", "passed", 0);
    row.view.timestamp = timestamp;
    const std::string page = RenderPage({row}, now);
    const size_t end = page.rfind("</div></td></tr>");
    const size_t begin = page.rfind('>', end - 1) + 1;
    return page.substr(begin, end - begin);
  };
  EXPECT_EQ(age("2026-01-31T10:00:00Z", kThen + 59), "0 min");
  EXPECT_EQ(age("2026-01-31T10:00:00Z", kThen + 7200), "2 h");
  EXPECT_EQ(age("2026-01-31T10:00:00Z", kThen - 7200), "in the future");
  EXPECT_EQ(age("yesterday", kThen), "unknown");
}

TEST(Page, NothingThatARunSaysIsMarkup) {
  PageRow row = Row("a", "failed", 1);
  row.report = std::string("javascript:") + kHostile;
  row.source = row.view.verdict = row.view.blame = row.view.image = row.view.headline_cause = kHostile;
  row.view.driver = row.view.matrix = row.view.timestamp = row.view.root_case.id = row.view.partial =
      kHostile;
  row.view.gpus = {kHostile};
  row.view.libraries = {{"cuDNN of x", kHostile}};
  const std::string page = RenderPage({row}, kThen);
  EXPECT_EQ(Count(page, "<script"), 1u);
  EXPECT_EQ(Count(page, "</script"), 1u);
  EXPECT_EQ(Count(page, "<img"), 0u);
  EXPECT_EQ(Count(page, "onerror=alert(2)>"), 0u);
  for (const char* word :
       {"src=", "@import", "url(http", "<link", "fetch(", "XMLHttpRequest", "innerHTML", "eval("})
    EXPECT_EQ(Count(page.substr(page.find("</tbody>")), word), 0u) << word;
}

}  // namespace
}  // namespace cudnn_ci
