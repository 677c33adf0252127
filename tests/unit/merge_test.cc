// Shards of a run, and runs on several types of GPU, put together to one record.
#include "model/merge/merge.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <map>
#include <set>

#include "base/text.h"
#include "golden_messages.h"
#include "model/plan/plan.h"
#include "model/record/notice_list.h"
#include "model/verdict/attribution.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kIds = {"driver.load", "conv.a", "conv.b", "conv.c"};

CasePlanned PlannedCase(size_t place) {
  CasePlanned planned;
  planned.ref = {kIds[place], ""};
  planned.check = kIds[place];
  planned.plugin = kIds[place].substr(0, kIds[place].find('.'));
  planned.layer = place == 0 ? Layer::kDriver : Layer::kConvolution;
  planned.entry = static_cast<int>(place);
  planned.place = static_cast<int>(place);
  return planned;
}

std::string WholeSha() {
  std::vector<CasePlanned> cases;
  for (size_t i = 0; i < kIds.size(); ++i) cases.push_back(PlannedCase(i));
  std::vector<const CasePlanned*> pointers;
  for (const CasePlanned& planned : cases) pointers.push_back(&planned);
  return PlanFingerprint(pointers);
}

Notice ShardNotice(int index, int count) {
  return {NoticeCode::kShard, {{"index", int64_t{index}}, {"count", int64_t{count}}}};
}

// A shard of a plan of four cases. driver.load is in every one; of the others number 1 has conv.a, 2 conv.b,
// 3 conv.c.
class Shard {
 public:
  Shard(int index, int count, std::vector<size_t> places) : places_(std::move(places)) {
    b.run.shard_index = index;
    b.run.shard_count = count;
    b.run.partial = {ShardNotice(index, count)};
    b.run.command_line += " --shard " + std::to_string(index) + "/" + std::to_string(count);
    b.run.run_id = "run-" + std::to_string(index);
    b.run.hostname = "node" + std::to_string(index);
    for (const size_t place : places_) {
      CasePlanned& planned = b.Plan(kIds[place]);
      planned = PlannedCase(place);
      planned.prerequisite = place == 0;
    }
  }
  Shard& Ends(size_t place, const Outcome& outcome, const std::vector<Finding>& findings = {}) {
    ended_[place] = {outcome, findings};
    return *this;
  }
  RecordedRun Recorded() {
    RunBuilder all = b;
    for (const size_t place : places_) {
      const auto end = ended_.find(place);
      if (end == ended_.end()) {
        all.End(kIds[place], Passed{});
      } else if (!std::holds_alternative<NotRun>(end->second.first)) {
        all.End(kIds[place], end->second.first, end->second.second);
      }
    }
    for (const EventBody& more : about_run) all.Add(more);
    RecordedRun recorded{"shard-" + std::to_string(b.run.shard_index) + ".jsonl", "", all.Events()};
    for (Event& event : recorded.events)
      if (auto* end = std::get_if<PlanEnd>(&event.body)) end->plan_sha256 = sha, end->whole = whole;
    return recorded;
  }
  RunBuilder b;
  std::vector<EventBody> about_run;
  std::string sha = WholeSha();
  int64_t whole = static_cast<int64_t>(kIds.size());

 private:
  std::vector<size_t> places_;
  std::map<size_t, std::pair<Outcome, std::vector<Finding>>> ended_;
};

std::vector<Shard> ThreeShards() { return {Shard(1, 3, {0, 1}), Shard(2, 3, {0, 2}), Shard(3, 3, {0, 3})}; }

Result<std::vector<Event>> MergeOf(std::vector<Shard> shards) {
  std::vector<RecordedRun> recorded;
  for (Shard& shard : shards) recorded.push_back(shard.Recorded());
  return MergeShards(recorded);
}

Summary SummaryOf(const Result<std::vector<Event>>& events) {
  if (!events.ok()) {
    ADD_FAILURE() << events.error();
    return {};
  }
  Fold fold;
  int64_t seq = 0;
  for (const Event& event : *events) {
    EXPECT_EQ(event.seq, ++seq);
    fold.Apply(event);
  }
  return fold.summary();
}

std::vector<std::string> DetailsOf(const Summary& summary, const std::string& slug) {
  std::vector<std::string> details;
  for (const Finding& f : summary.run_findings)
    if (f.slug == slug) details.push_back(f.detail);
  return details;
}

TEST(MergeShards, AllOfThemAreTheWholeRun) {
  const Summary summary = SummaryOf(MergeOf(ThreeShards()));
  std::vector<std::string> ids;
  for (const CaseRecord& record : summary.cases) {
    ids.push_back(record.plan.ref.id);
    EXPECT_TRUE(std::holds_alternative<Passed>(record.outcome)) << ids.back();
  }
  EXPECT_EQ(ids, kIds) << "in the plan's order, each once";
  const Verdict verdict = Judge(summary);
  EXPECT_EQ(verdict.kind, VerdictKind::kPassed);
  EXPECT_TRUE(verdict.complete);
  ASSERT_TRUE(summary.run);
  EXPECT_EQ(summary.run->partial, Notices());
  EXPECT_EQ(summary.run->shard_count, 0);
  EXPECT_EQ(summary.run->command_line, "cudnn-ci --matrix matrices/cu12.json");
  EXPECT_EQ(summary.run->hostname, "node1, node2, node3");
  EXPECT_EQ(summary.run->merged_by, "shards");
  ASSERT_EQ(summary.run->parts.size(), 3u);
  EXPECT_EQ(summary.run->parts[1].name, "2/3");
  EXPECT_EQ(summary.run->parts[1].run_id, "run-2");
  EXPECT_EQ(summary.run->parts[1].driver, "580.65.06");
  EXPECT_EQ(summary.run->parts[1].verdict, "passed");
}

// A run of node `index` of two.
Shard Node(int index) {
  Shard node(index, 2, {0, 1, 2, 3});
  node.b.run.partial = {{NoticeCode::kNode, {{"index", int64_t{index}}, {"count", int64_t{2}}}}};
  node.b.run.devices = {{"gpu0", "GPU-" + std::to_string(index), "H100", "9.0"}};
  return node;
}

TEST(MergeShards, NodesHaveAllCasesAndWhatTheyFindAlikeStandsOnce) {
  const std::vector<Finding> alike = {HarnessFinding("part-missing", "alike")};
  const std::vector<Finding> own = {HarnessFinding("part-missing", "alike"),
                                    HarnessFinding("part-missing", "its own")};
  const Summary summary =
      SummaryOf(MergeOf({Node(1).Ends(1, Failed{}, alike), Node(2).Ends(1, Failed{}, own)}));
  EXPECT_EQ(summary.run->merged_by, "nodes");
  EXPECT_TRUE(summary.run->partial.empty());
  std::vector<std::string> details;
  for (const Finding& finding : summary.Find({kIds[1], ""})->findings) details.push_back(finding.detail);
  EXPECT_THAT(details, testing::UnorderedElementsAre("alike", "its own"));
  EXPECT_THAT(DetailsOf(SummaryOf(MergeOf({Node(2)})), "part-missing"),
              testing::ElementsAre("node 1/2 is missing: of 2 nodes there is 1"));
  EXPECT_FALSE(MergeOf({Node(1), Shard(2, 2, {0, 1})}).ok());
  Shard twice = Node(2);
  twice.b.run.devices = Node(1).b.run.devices;
  EXPECT_FALSE(MergeOf({Node(1), twice}).ok()) << "another node was left out";
}

TEST(MergeShards, TheDigestIsTheEnginesOnlyWhereEveryEngineHasSaidSo) {
  const auto from = [](const std::string& first, const std::string& others) {
    std::vector<Shard> shards = ThreeShards();
    for (Shard& shard : shards) shard.b.run.digest_from = &shard == shards.data() ? first : others;
    return SummaryOf(MergeOf(shards)).run->digest_from;
  };
  EXPECT_EQ(from("engine", "engine"), "engine");
  EXPECT_EQ(from("engine", "told"), "told");
  EXPECT_EQ(from("told", "engine"), "told");
  EXPECT_EQ(from("", ""), "");
}

// Of a variable that several have, the first part's word counts.
TEST(MergeShards, VariablesOfEveryPartStay) {
  std::vector<Shard> shards = ThreeShards();
  shards[0].b.run.environment = {{"CUDNN_LOGLEVEL_DBG", "1"}};
  shards[1].b.run.environment = {{"CUDA_MODULE_LOADING", "EAGER"}, {"CUDNN_LOGLEVEL_DBG", "2"}};
  shards[2].b.run.environment = {{"LD_PRELOAD", "/opt/x.so"}};
  const std::map<std::string, std::string> all = {
      {"CUDA_MODULE_LOADING", "EAGER"}, {"CUDNN_LOGLEVEL_DBG", "1"}, {"LD_PRELOAD", "/opt/x.so"}};
  EXPECT_EQ(SummaryOf(MergeOf(shards)).run->environment, all);
}

TEST(MergeShards, TheOrderOfTheJournalsIsNoMatter) {
  std::vector<Shard> shards = ThreeShards();
  std::swap(shards[0], shards[2]);
  const Summary summary = SummaryOf(MergeOf(std::move(shards)));
  EXPECT_EQ(summary.cases[1].plan.ref.id, "conv.a");
  EXPECT_EQ(summary.run->parts[0].name, "1/3");
}

CasePlanned& PlannedIn(RecordedRun* recorded, const std::string& id) {
  for (Event& event : recorded->events)
    if (auto* planned = std::get_if<CasePlanned>(&event.body); planned && planned->ref.id == id)
      return *planned;
  throw id;
}

TEST(MergeShards, WhatOneShardWasDealtIsNoPrerequisite) {
  std::vector<RecordedRun> recorded;
  for (Shard shard : ThreeShards()) recorded.push_back(shard.Recorded());
  EXPECT_TRUE(SummaryOf(MergeShards(recorded)).Find({"driver.load", ""})->plan.prerequisite);
  PlannedIn(&recorded[1], "driver.load").prerequisite = false;
  EXPECT_FALSE(SummaryOf(MergeShards(recorded)).Find({"driver.load", ""})->plan.prerequisite);
}

TEST(MergeShards, ACaseThatIsTwoIsRefused) {
  std::vector<RecordedRun> recorded;
  for (Shard shard : ThreeShards()) recorded.push_back(shard.Recorded());
  PlannedIn(&recorded[1], "driver.load").params = {{"i", int64_t{1}}};
  GoldenMessages golden("merge.txt");
  EXPECT_THAT(golden.Row("case 0 with other parameters", MergeShards(recorded).error()),
              HasSubstr(" 0 is driver.load and driver.load"));
  PlannedIn(&recorded[1], "driver.load").place = -1;
  EXPECT_THAT(golden.Row("a case without its place", MergeShards(recorded).error()),
              StartsWith("shard-2.jsonl: "));
}

TEST(MergeShards, AMissingShardIsRedAndNamed) {
  std::vector<Shard> shards = ThreeShards();
  shards.erase(shards.begin() + 1);
  const Summary summary = SummaryOf(MergeOf(std::move(shards)));
  const Verdict verdict = Judge(summary);
  EXPECT_EQ(verdict.exit_code, 6);
  EXPECT_FALSE(verdict.complete);
  ASSERT_TRUE(verdict.root_cause);
  EXPECT_EQ(verdict.root_cause->finding.slug, "part-missing");
  EXPECT_EQ(verdict.root_cause->finding.detail, "shard 2/3 is missing: of 3 shards there are 2");
  EXPECT_EQ(summary.run->parts[1].verdict, "missing");
  EXPECT_FALSE(summary.finished);
  EXPECT_EQ(summary.plan_end->count, 4) << "what the missing shard had is counted";
}

TEST(MergeShards, OfManyMissingShardsTheFirstAreNamedAndTheRestCounted) {
  const Summary summary = SummaryOf(MergeOf({Shard(1, 10'000, {0, 1})}));
  const std::vector<std::string> details = DetailsOf(summary, "part-missing");
  ASSERT_EQ(details.size(), 17u);
  EXPECT_THAT(details[15], HasSubstr("shard 17/10000 is missing"));
  EXPECT_EQ(details[16], "9983 more are missing: of 10000 shards there is 1");
}

// Every case of the plan is there all the same: a prerequisite alone was dealt to the shard that is lost.
TEST(MergeShards, AMissingShardIsRedEvenIfEveryCaseIsThere) {
  const Verdict verdict = Judge(SummaryOf(MergeOf({Shard(1, 2, {0, 1, 2, 3})})));
  EXPECT_EQ(verdict.exit_code, 6);
  EXPECT_EQ(verdict.root_cause->finding.slug, "part-missing");
}

TEST(MergeShards, AShardThatDidNotEndIsRedAndNamed) {
  std::vector<Shard> shards = ThreeShards();
  shards[2].b.finished = false;
  shards[2].Ends(3, NotRun{});
  const Summary summary = SummaryOf(MergeOf(std::move(shards)));
  EXPECT_EQ(Judge(summary).exit_code, 6);
  EXPECT_THAT(DetailsOf(summary, "part-missing"),
              testing::ElementsAre("shard 3/3 (shard-3.jsonl, on node3) did not finish: 1 of its 2 "
                                   "cases have no outcome"));
  EXPECT_TRUE(std::holds_alternative<NotRun>(summary.Find({"conv.c", ""})->outcome));
}

// What is left of a shard that was ended while plugins were described: no plan, and little of what it was to
// judge with.
void EndBeforeThePlan(RecordedRun* recorded) {
  std::erase_if(recorded->events, [](const Event& e) { return !std::holds_alternative<RunStarted>(e.body); });
  auto& run = std::get<RunStarted>(recorded->events.at(0).body);
  run.plugins.clear();
  run.subjects.clear();
  run.devices.clear();
  run.partial.clear();
  recorded->events.push_back({2, 0, RunCancelled{CancelReason::kSignal, SIGTERM}});
  recorded->events.push_back({3, 0, RunFinished{0.1}});
}

TEST(MergeShards, AShardThatEndedBeforeItHadAPlanIsRedAndNamed) {
  GoldenMessages golden("merge.txt");
  for (const size_t dead : {size_t{0}, size_t{1}, size_t{2}}) {
    std::vector<RecordedRun> recorded;
    std::vector<Shard> shards = ThreeShards();
    for (Shard& shard : shards) {
      shard.b.run.plugins = {{"conv", "1.0.0", "/conv.cci.so", "aa"}};
      recorded.push_back(shard.Recorded());
    }
    EndBeforeThePlan(&recorded[dead]);
    const Summary summary = SummaryOf(MergeShards(recorded));
    const Verdict verdict = Judge(summary);
    EXPECT_EQ(verdict.exit_code, 128 + SIGTERM);
    ASSERT_TRUE(verdict.root_cause);
    EXPECT_EQ(verdict.root_cause->finding.slug, "part-missing");
    EXPECT_THAT(golden.Row("shard " + std::to_string(dead + 1), verdict.root_cause->finding.detail),
                AllOf(HasSubstr("shard-" + std::to_string(dead + 1) + ".jsonl"), HasSubstr("SIGTERM")));
    EXPECT_FALSE(summary.finished) << dead;
    EXPECT_EQ(summary.run->plugins.size(), 1u) << "what the others know";
  }
}

TEST(MergeShards, AShardWithoutAPlanHidesNoDifferenceOfTheOthers) {
  std::vector<RecordedRun> recorded;
  for (int i = 1; i <= 4; ++i) {
    Shard shard(i, 4, {0, static_cast<size_t>(i % 3 + 1)});
    shard.b.run.plugins = {{"conv", "1.0.0", "/conv.cci.so", i == 4 ? "bb" : "aa"}};
    recorded.push_back(shard.Recorded());
  }
  EndBeforeThePlan(&recorded[0]);
  EndBeforeThePlan(&recorded[2]);
  EXPECT_THAT(MergeShards(recorded).error(), HasSubstr("different plugins"));
}

// It said all it had to say but that it was done: whoever was killed there may have found more.
TEST(MergeShards, AShardWithoutItsLastLineIsRed) {
  std::vector<Shard> shards = ThreeShards();
  shards[0].b.finished = false;
  EXPECT_EQ(Judge(SummaryOf(MergeOf(std::move(shards)))).exit_code, 6);
}

TEST(MergeShards, TheWorstOutcomeOfACaseCounts) {
  const Finding too_old = Wrong("driver-too-old", Blame::kRunner, "535");
  for (size_t bad = 0; bad < 3; ++bad) {
    std::vector<Shard> shards = ThreeShards();
    shards[bad].Ends(0, Failed{}, {too_old});
    shards[bad].Ends(bad + 1, Blocked{"driver.load"});
    const Summary summary = SummaryOf(MergeOf(std::move(shards)));
    EXPECT_TRUE(std::holds_alternative<Failed>(summary.Find({"driver.load", ""})->outcome)) << bad;
    const Verdict verdict = Judge(summary);
    EXPECT_EQ(verdict.exit_code, 3) << bad;
    EXPECT_EQ(verdict.root_cause->finding, too_old);
  }
}

TEST(MergeShards, FindingsOfEveryRecordOfACaseStay) {
  std::vector<Shard> shards = ThreeShards();
  Finding warning = Wrong("xid-logged", Blame::kRunner, "on node3");
  warning.severity = Severity::kWarning;
  shards[2].Ends(0, Passed{}, {warning});
  const Finding one = Wrong("wrong-value", Blame::kImage, "one"),
                other = Wrong("late", Blame::kRunner, "two");
  shards[0].Ends(0, Failed{}, {one});
  shards[1].Ends(0, Failed{}, {other});
  const Summary summary = SummaryOf(MergeOf(std::move(shards)));
  EXPECT_THAT(summary.Find({"driver.load", ""})->findings,
              testing::UnorderedElementsAre(one, other, warning));
  EXPECT_EQ(Judge(summary).exit_code, 1);
}

TEST(MergeShards, FindingsAboutARunAndLostDevicesStay) {
  std::vector<Shard> shards = ThreeShards();
  shards[1].about_run = {FindingReported{{}, HarnessFinding("worker-exit", "of worker 3")},
                         DeviceLost{"gpu0", "the canary failed"}};
  const Summary summary = SummaryOf(MergeOf(std::move(shards)));
  EXPECT_EQ(Judge(summary).exit_code, 5);
  ASSERT_EQ(summary.devices_lost.size(), 1u);
}

TEST(MergeShards, AnInterruptedShardInterruptsTheRun) {
  std::vector<Shard> shards = ThreeShards();
  shards[1].about_run = {RunCancelled{CancelReason::kSignal, 15}};
  EXPECT_EQ(Judge(SummaryOf(MergeOf(std::move(shards)))).exit_code, 143);
}

TEST(MergeShards, AReportThatAShardCouldNotWriteStaysRed) {
  std::vector<Shard> shards = ThreeShards();
  shards[1].about_run = {FindingReported{{}, HarnessFinding("report-not-written", "junit: full")}};
  EXPECT_EQ(Judge(SummaryOf(MergeOf(std::move(shards)))).exit_code, 5);
}

// A shard to which nothing was dealt has shown nothing; the run has.
TEST(MergeShards, WhatIsFoundAtTheEndIsFoundAgain) {
  std::vector<Shard> shards = ThreeShards();
  shards.push_back(Shard(4, 4, {}));
  for (Shard& shard : shards) {
    shard.b.run.shard_count = 4;
    shard.b.run.partial = {ShardNotice(shard.b.run.shard_index, 4)};
  }
  shards[3].about_run = {FindingReported{{}, HarnessFinding("nothing-selected", "the plan has no case")}};
  EXPECT_EQ(Judge(SummaryOf(MergeOf(shards))).exit_code, 0);
  // The last day of the waiver is over where one of them waited for a machine.
  for (Shard& shard : shards) shard.b.waivers = {{"conv.*", "slow", "known", "me", "2026-01-31"}};
  EXPECT_EQ(Judge(SummaryOf(MergeOf(shards))).exit_code, 0);
  shards[1].b.run.timestamp = "2026-02-01T00:00:01Z";
  const Summary late = SummaryOf(MergeOf(shards));
  EXPECT_EQ(Judge(late).exit_code, 4);
  EXPECT_EQ(DetailsOf(late, "waiver-expired").size(), 1u);
}

TEST(MergeShards, IsReportOnlyWhereAllAre) {
  std::vector<Shard> shards = ThreeShards();
  shards[0].b.run.report_only = true;
  EXPECT_FALSE(SummaryOf(MergeOf(shards)).run->report_only);
  for (Shard& shard : shards) shard.b.run.report_only = true;
  EXPECT_TRUE(SummaryOf(MergeOf(shards)).run->report_only);
}

TEST(MergeShards, AFilteredRunStaysPartial) {
  std::vector<Shard> shards = ThreeShards();
  for (Shard& shard : shards)
    shard.b.run.partial = {{NoticeCode::kFiltered}, shard.b.run.partial[0], {NoticeCode::kStaticStage}};
  EXPECT_EQ(PartialText(SummaryOf(MergeOf(std::move(shards))).run->partial), "filtered, static stage");
}

TEST(MergeShards, NamesDifferentDrivers) {
  std::vector<Shard> shards = ThreeShards();
  shards[1].b.run.facts["system"]["driver.version"] = "570.1";
  EXPECT_THAT(
      SentencesOf(SummaryOf(MergeOf(std::move(shards))).run->warnings),
      testing::ElementsAre("the shards ran with different drivers: 570.1 (2/3), 580.65.06 (1/3, 3/3)"));
}

TEST(MergeShards, WorkersOfDifferentShardsAreDifferent) {
  std::vector<Shard> shards = ThreeShards();
  for (Shard& shard : shards) {
    shard.Ends(0, Failed{}, {Wrong("late", Blame::kRunner)});
    shard.about_run = {WorkerStarted{1, 100, "conv", "system", "gpu0", true}};
    const size_t place = static_cast<size_t>(shard.b.run.shard_index);
    shard.Ends(place, Failed{}, {Wrong("wrong-value", Blame::kImage)});
  }
  const Result<std::vector<Event>> merged = MergeOf(std::move(shards));
  std::set<int64_t> started, used;
  for (const Event& event : *merged) {
    if (const auto* worker = std::get_if<WorkerStarted>(&event.body)) started.insert(worker->worker);
    if (const auto* attempt = std::get_if<AttemptFinished>(&event.body)) used.insert(attempt->worker);
  }
  EXPECT_EQ(started, (std::set<int64_t>{1, 2, 3}));
  EXPECT_EQ(used, started);
}

struct Refusal {
  const char* name;
  void (*change)(std::vector<Shard>* shards);
  const char* argument;
};

class RefusedShards : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedShards, WithOneClearLine) {
  std::vector<Shard> shards = ThreeShards();
  GetParam().change(&shards);
  const Result<std::vector<Event>> merged = MergeOf(std::move(shards));
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(GoldenMessages("merge.txt").Row(GetParam().name, merged.error()),
              HasSubstr(GetParam().argument));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedShards,
    testing::Values(
        Refusal{"a_matrix", [](auto* s) { (*s)[1].b.run.matrix_sha256 = "f"; }, "different matrices"},
        Refusal{"a_plan", [](auto* s) { (*s)[2].sha = "f"; }, "different plans: sha256"},
        Refusal{"a_size", [](auto* s) { (*s)[2].whole = 9; }, "different plans"},
        Refusal{"an_image", [](auto* s) { (*s)[2].b.run.image = "x@sha256:1"; }, "different images"},
        Refusal{"a_cudnn", [](auto* s) { (*s)[2].b.run.facts["system"]["cudnn.version"] = "9.2.0"; },
                "9.2.0"},
        Refusal{"a_version", [](auto* s) { (*s)[1].b.run.version = "0.2.0"; }, "0.1.0 and 0.2.0"},
        Refusal{"a_plugin",
                [](auto* s) {
                  (*s)[1].b.run.plugins = {{"conv", "1", "/p", "abc"}};
                },
                "different plugins"},
        Refusal{"a_table", [](auto* s) { (*s)[1].b.run.compatibility.sha256 = "abc"; }, "sha256 "},
        Refusal{"a_rule",
                [](auto* s) {
                  (*s)[1].b.run.knowledge = {{"cudnn-ci/imports/1", "2026-11-23", "/k", "ab"}};
                },
                "different knowledge files"},
        Refusal{"a_subject",
                [](auto* s) {
                  (*s)[1].b.run.subjects = {{"torch", "python:/x"}};
                },
                "different subjects"},
        Refusal{"a_selection", [](auto* s) { (*s)[1].b.run.partial.push_back({NoticeCode::kFiltered}); },
                "filtered"},
        Refusal{"a_model", [](auto* s) { (*s)[1].b.run.devices[0].model = "Tesla T4"; },
                "NVIDIA H200 and Tesla T4"},
        Refusal{"a_number", [](auto* s) { (*s)[1].b.run.shard_count = 4; }, "shard 1/3 and shard 2/4"},
        Refusal{"more_than_there_can_be",
                [](auto* s) {
                  for (Shard& shard : *s) shard.b.run.shard_count = 2'000'000'000;
                },
                " 2000000000 "},
        Refusal{"an_unnamed_image_of_another_day",
                [](auto* s) {
                  for (Shard& shard : *s) shard.b.run.image = "unidentified";
                  (*s)[0].b.run.timestamp = "2026-02-01T09:00:00Z";
                  (*s)[1].b.run.timestamp = "2026-02-02T08:00:00Z";
                },
                "shard-3.jsonl (2026-01-31T10:00:00Z) and shard-2.jsonl (2026-02-02T08:00:00Z)"},
        Refusal{"one_twice",
                [](auto* s) {
                  (*s)[2] = Shard(1, 3, {0, 1});
                },
                " 1/3"},
        Refusal{"a_whole_run", [](auto* s) { (*s)[2].b.run.shard_count = (*s)[2].b.run.shard_index = 0; },
                "--shard I/N"},
        Refusal{"another_case",
                [](auto* s) {
                  (*s)[2] = Shard(3, 3, {0, 2});
                },
                " 3 cases"}),
    [](const auto& tested) { return std::string(tested.param.name); });

// A merge would lose them, and nobody would know what they said.
TEST(MergeShards, EventsOfANewerVersionAreRefused) {
  std::vector<RecordedRun> recorded;
  std::vector<Shard> shards = ThreeShards();
  for (Shard& shard : shards) recorded.push_back(shard.Recorded());
  ASSERT_TRUE(MergeShards(recorded).ok());
  recorded[1].unknown_events = {"PowerLost"};
  const Result<std::vector<Event>> merged = MergeShards(recorded);
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(GoldenMessages("merge.txt").Row("PowerLost", merged.error()),
              AllOf(StartsWith("shard-2.jsonl: "), HasSubstr("PowerLost")));
}

TEST(MergeShards, OfOneDayAnUnnamedImageIsTakenForOneAndANamedOneWhenever) {
  std::vector<Shard> shards = ThreeShards();
  shards[1].b.run.timestamp = "2027-01-31T10:00:00Z";
  EXPECT_TRUE(MergeOf(shards).ok());
  for (Shard& shard : shards) shard.b.run.image = "unidentified";
  EXPECT_FALSE(MergeOf(shards).ok());
  shards[1].b.run.timestamp = "2026-02-01T10:00:00Z";
  EXPECT_TRUE(MergeOf(shards).ok());
}

// Of what all say they are, the cases themselves are the proof.
TEST(MergeShards, TheCasesMustBeThoseOfThePlan) {
  std::vector<Shard> shards = ThreeShards();
  for (Shard& shard : shards) shard.sha = std::string(64, 'a');
  const Result<std::vector<Event>> merged = MergeOf(std::move(shards));
  ASSERT_FALSE(merged.ok());
  EXPECT_THAT(GoldenMessages("merge.txt").Row("another sha256", merged.error()), HasSubstr("sha256"));
}

TEST(GpuType, IsAWordOfTheModel) {
  EXPECT_TRUE(IsGpuType("t4", "Tesla T4"));
  EXPECT_TRUE(IsGpuType("l4", "NVIDIA L4"));
  EXPECT_FALSE(IsGpuType("l4", "NVIDIA L40S"));
  EXPECT_TRUE(IsGpuType("a100-40gb", "NVIDIA A100-SXM4-40GB"));
  EXPECT_FALSE(IsGpuType("a100-80gb", "NVIDIA A100-SXM4-40GB"));
  EXPECT_FALSE(IsGpuType("-", "NVIDIA L4"));
}

// A whole run on a type of GPU: a case that uses no device, one on each GPU.
RecordedRun RunOn(const std::string& model, const Outcome& convolution = Passed{},
                  const std::vector<Finding>& findings = {}, int gpus = 1) {
  RunBuilder b;
  b.run.run_id = b.run.hostname = "on " + model;
  b.run.command_line = "cudnn-ci --matrix m.json --device all # " + model;
  b.run.devices.clear();
  b.Plan("toolkit.runtime", Layer::kToolkit);
  for (int i = 0; i < gpus; ++i) {
    const std::string gpu = "gpu" + std::to_string(i);
    b.run.devices.push_back({gpu, "GPU-" + gpu + model, model, "9.0"});
    b.Plan("driver.canary", Layer::kDriver, gpu);
    b.Plan("conv.a", Layer::kConvolution, gpu);
  }
  b.End("toolkit.runtime", Passed{});
  for (int i = 0; i < gpus; ++i) {
    const std::string gpu = "gpu" + std::to_string(i);
    b.End(CaseRef{"driver.canary", gpu}, Passed{});
    b.End(CaseRef{"conv.a", gpu}, convolution, findings);
  }
  return {model, "", b.Events()};
}

TEST(MergeGpus, IsGreenWithAGreenRunOnEachType) {
  const Summary summary =
      SummaryOf(MergeGpus({RunOn("NVIDIA L4"), RunOn("Tesla T4", Passed{}, {}, 2)}, {"t4", "l4"}));
  const Verdict verdict = Judge(summary);
  EXPECT_EQ(verdict.exit_code, 0);
  EXPECT_TRUE(verdict.complete);
  EXPECT_EQ(summary.cases.size(), 8u);
  EXPECT_TRUE(summary.Find({"toolkit.runtime", "t4"}));
  EXPECT_TRUE(summary.Find({"conv.a", "t4.gpu1"}));
  EXPECT_TRUE(summary.Find({"conv.a", "l4"}));
  ASSERT_EQ(summary.run->parts.size(), 2u);
  EXPECT_EQ(summary.run->parts[0].name, "t4") << "in the order of --require";
  EXPECT_EQ(summary.run->devices.size(), 3u);
}

TEST(MergeGpus, AMissingTypeIsRedAndNamed) {
  const Summary summary = SummaryOf(MergeGpus({RunOn("NVIDIA L4")}, {"t4", "l4"}));
  const Verdict verdict = Judge(summary);
  EXPECT_EQ(verdict.exit_code, 6);
  EXPECT_FALSE(verdict.complete);
  EXPECT_EQ(verdict.root_cause->finding.slug, "part-missing");
  EXPECT_THAT(verdict.root_cause->finding.detail, HasSubstr("t4"));
  EXPECT_EQ(summary.run->parts.back().verdict, "missing");
}

TEST(MergeGpus, ARedRunOnOneTypeIsRed) {
  const Finding wrong = Wrong("wrong-value", Blame::kImage);
  const Summary summary =
      SummaryOf(MergeGpus({RunOn("NVIDIA L4"), RunOn("Tesla T4", Failed{}, {wrong})}, {"t4", "l4"}));
  const Verdict verdict = Judge(summary);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.root_cause->ref, (CaseRef{"conv.a", "t4"}));
  CaseRef there;
  const RunPart* part = PartOfCase(*summary.run, {"conv.a", "t4"}, &there);
  ASSERT_TRUE(part);
  EXPECT_EQ(there, CaseRef{"conv.a"});
  EXPECT_THAT(part->command_line, HasSubstr("Tesla T4"));
  PartOfCase(*summary.run, {"conv.a[i=1]", "l4.gpu3"}, &there);
  EXPECT_EQ(there, (CaseRef{"conv.a[i=1]", "gpu3"}));
}

TEST(MergeGpus, WhatBlocksACaseIsOnItsOwnType) {
  RunBuilder b;
  b.run.devices = {{"gpu0", "GPU-0", "Tesla T4", "7.5"}, {"gpu1", "GPU-1", "Tesla T4", "7.5"}};
  b.Plan("driver.load", Layer::kDriver);
  b.Plan("driver.canary", Layer::kDriver, "gpu1");
  b.Plan("conv.a", Layer::kConvolution, "gpu0");
  b.Plan("conv.a", Layer::kConvolution, "gpu1");
  b.End("driver.load", Failed{}, {Wrong("late", Blame::kRunner)});
  b.End(CaseRef{"driver.canary", "gpu1"}, Failed{}, {Wrong("lost", Blame::kRunner)});
  b.End(CaseRef{"conv.a", "gpu0"}, Blocked{"driver.load"});
  b.End(CaseRef{"conv.a", "gpu1"}, Blocked{{"driver.canary", "gpu1"}});
  const Summary summary =
      SummaryOf(MergeGpus({RunOn("NVIDIA L4"), {"t4.jsonl", "", b.Events()}}, {"l4", "t4"}));
  const auto blocker = [&](const char* device) {
    return RootBlocker(summary, *summary.Find({"conv.a", device}));
  };
  ASSERT_TRUE(blocker("t4"));
  EXPECT_EQ(blocker("t4")->plan.ref, (CaseRef{"driver.load", "t4"}));
  ASSERT_TRUE(blocker("t4.gpu1"));
  EXPECT_EQ(blocker("t4.gpu1")->plan.ref, (CaseRef{"driver.canary", "t4.gpu1"}));
}

TEST(MergeGpus, ARunWithoutAGpuCounts) {
  RecordedRun without = RunOn("", Failed{}, {Wrong("late", Blame::kRunner)});
  for (Event& event : without.events)
    if (auto* run = std::get_if<RunStarted>(&event.body)) run->devices.clear();
  const Summary summary = SummaryOf(MergeGpus({RunOn("NVIDIA L4"), without}, {"l4"}));
  EXPECT_EQ(Judge(summary).exit_code, 3);
  EXPECT_TRUE(summary.Find({"conv.a", "no-gpu"}));
}

TEST(MergeGpus, ARunThatDidNotEndIsRed) {
  RecordedRun torn = RunOn("NVIDIA L4");
  torn.events.pop_back();
  const Verdict verdict = Judge(SummaryOf(MergeGpus({torn, RunOn("Tesla T4")}, {"l4", "t4"})));
  EXPECT_EQ(verdict.exit_code, 6);
  EXPECT_FALSE(verdict.complete);
}

TEST(MergeGpus, ShardsOfOneTypeAreOneRun) {
  std::vector<Shard> shards = ThreeShards();
  std::vector<RecordedRun> runs;
  for (Shard& shard : shards) runs.push_back(shard.Recorded());
  const Summary all = SummaryOf(MergeGpus(runs, {"h200"}));
  EXPECT_EQ(Judge(all).exit_code, 0);
  EXPECT_EQ(all.cases.size(), kIds.size());
  runs.pop_back();
  const Summary some = SummaryOf(MergeGpus(runs, {"h200"}));
  EXPECT_EQ(Judge(some).exit_code, 6);
  EXPECT_THAT(DetailsOf(some, "part-missing"), testing::Contains(HasSubstr("shard 3/3 is missing")));
}

TEST(MergeGpus, RefusesWhatIsNotOneRunOfOneImageOnEachType) {
  GoldenMessages golden("merge.txt");
  const auto refused = [&golden](const std::vector<RecordedRun>& runs,
                                 const std::vector<std::string>& types) {
    const Result<std::vector<Event>> merged = MergeGpus(runs, types);
    return golden.Row(Join(types, ","), merged.ok() ? "(merged)" : merged.error());
  };
  EXPECT_THAT(refused({RunOn("NVIDIA L4"), RunOn("NVIDIA L4")}, {"l4"}), HasSubstr(" l4;"));
  EXPECT_THAT(refused({RunOn("NVIDIA A10")}, {"l4"}), AllOf(HasSubstr("NVIDIA A10"), HasSubstr("--require")));
  EXPECT_THAT(refused({RunOn("NVIDIA L4")}, {"l4", "nvidia"}), AllOf(HasSubstr("l4"), HasSubstr("nvidia")));
  const auto changed = [](void (*change)(RunStarted*)) {
    RecordedRun run = RunOn("Tesla T4");
    change(&std::get<RunStarted>(run.events[0].body));
    return run;
  };
  EXPECT_THAT(
      refused({RunOn("NVIDIA L4"), changed([](RunStarted* r) { r->partial = {{NoticeCode::kFiltered}}; })},
              {"l4", "t4"}),
      HasSubstr("is partial (filtered)"));
  EXPECT_THAT(refused({RunOn("NVIDIA L4"), changed([](RunStarted* r) { r->image = "x"; })}, {"l4", "t4"}),
              HasSubstr("different images"));
  EXPECT_THAT(
      refused({RunOn("NVIDIA L4"), changed([](RunStarted* r) { r->matrix_sha256 = "x"; })}, {"l4", "t4"}),
      HasSubstr("different matrices"));
  EXPECT_THAT(refused({changed([](RunStarted* r) { r->merged_by = "gpus"; })}, {"t4"}), HasSubstr("already"));
  const auto unnamed = [](const std::string& model, const std::string& timestamp) {
    RecordedRun run = RunOn(model);
    auto& start = std::get<RunStarted>(run.events[0].body);
    start.image = "unidentified", start.timestamp = timestamp;
    return run;
  };
  EXPECT_THAT(
      refused({unnamed("Tesla T4", "2026-02-28T10:00:00Z"), unnamed("NVIDIA L4", "2026-03-01T10:00:01Z")},
              {"l4", "t4"}),
      HasSubstr("--subject-image"));
}

}  // namespace
}  // namespace cudnn_ci
