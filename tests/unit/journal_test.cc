// The journal: what is written reads back, what is damaged is named.
#include "report/journal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include "base/text.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

// Any text that CleanText leaves as it is.
std::string RandomText(std::mt19937* random) {
  static const std::vector<std::string> kPieces = {
      "a", "\n", "\t",   "\"", "\\", "{}", "\xc3\xa9", ",", ":", "\"", "]]", "\x7f", "\xf0\x9f\x98\x80",
      "0", " ",  "null", "/"};
  std::string text;
  for (int n = static_cast<int>((*random)() % 12); n > 0; --n) text += kPieces[(*random)() % kPieces.size()];
  return CleanText(text);
}

int64_t RandomInt(std::mt19937* random) {
  static const int64_t kEdges[] = {0, 1, -1, INT64_MAX, INT64_MIN, int64_t{1} << 53};
  const unsigned pick = (*random)() % 8;
  return pick < 6 ? kEdges[pick] : static_cast<int64_t>((*random)());
}

double RandomDouble(std::mt19937* random) {
  static const double kEdges[] = {0, -0.0, 1, 0.1, 1e300, 5e-324, 1.0 / 3, HUGE_VAL, -HUGE_VAL, 1e15};
  return kEdges[(*random)() % 10];
}

Outcome RandomOutcome(std::mt19937* random) {
  switch ((*random)() % 6) {
    case 0:
      return Passed{};
    case 1:
      return Failed{};
    case 2:
      return Skipped{static_cast<SkipKind>((*random)() % 4), RandomText(random), RandomText(random)};
    case 3:
      return Blocked{RandomText(random)};
    case 4:
      return Errored{static_cast<ErrorKind>((*random)() % 11), RandomText(random)};
    default:
      return NotRun{RandomText(random)};
  }
}

RunStarted RandomRun(std::mt19937* r) {
  RunStarted run;
  run.run_id = RandomText(r);
  run.timestamp = RandomText(r);
  run.image = RandomText(r);
  run.command_line = RandomText(r);
  run.subjects = {{RandomText(r), RandomText(r)}};
  run.devices = {{RandomText(r), RandomText(r), RandomText(r), RandomText(r)}};
  run.contract = {{"runner.driver", RandomText(r)}};
  run.facts = {{"system", {{"a.b", RandomText(r)}, {"c", ""}}}, {"torch", {}}};
  run.not_gated = {RandomText(r), ""};
  run.warnings = {RandomText(r)};
  run.waivers = {{RandomText(r), RandomText(r), RandomText(r), RandomText(r), RandomText(r)}};
  run.partial = RandomText(r);
  run.report_only = (*r)() % 2;
  run.shard_index = 3;
  run.shard_count = 7;
  return run;
}

EventBody RandomBody(size_t kind, std::mt19937* r) {
  const CaseRef ref{RandomText(r), RandomText(r)};
  const int small = static_cast<int>((*r)() % 100);
  const Finding finding{RandomText(r),
                        static_cast<Severity>((*r)() % 3),
                        static_cast<Blame>((*r)() % 5),
                        RandomText(r),
                        RandomText(r),
                        RandomText(r),
                        RandomText(r)};
  CasePlanned planned;
  planned.ref = ref;
  planned.check = RandomText(r);
  planned.plugin = RandomText(r);
  planned.subject = RandomText(r);
  planned.layer = static_cast<Layer>((*r)() % 7);
  planned.required = (*r)() % 2;
  planned.prerequisite = (*r)() % 2;
  planned.timeout_s = RandomDouble(r);
  planned.allow_skip = {SkipKind::kMemory, SkipKind::kVersion};
  planned.allow_flaky = (*r)() % 2;
  planned.params = {{"b", true},
                    {"i", RandomInt(r)},
                    {"f", 2.0},
                    {"s", RandomText(r)},
                    {"il", std::vector<int64_t>{1, RandomInt(r)}},
                    {"il0", std::vector<int64_t>{}},
                    {"sl", std::vector<std::string>{RandomText(r)}},
                    {"sl0", std::vector<std::string>{}}};
  const EventBody bodies[] = {
      RandomRun(r),
      planned,
      PlanEnd{RandomInt(r), RandomText(r)},
      WorkerStarted{RandomInt(r), 2, RandomText(r), RandomText(r), RandomText(r), true},
      WorkerEnded{RandomInt(r), RandomText(r), RandomText(r)},
      AttemptStarted{ref, small, RandomInt(r), static_cast<AttemptMode>((*r)() % 4)},
      StepReached{ref, RandomText(r)},
      ExpectationFailed{ref, RandomText(r), small, RandomText(r)},
      FindingReported{ref, finding},
      Measured{ref, RandomText(r), RandomDouble(r), RandomText(r), RandomText(r)},
      Attached{ref, RandomText(r), RandomText(r), RandomText(r)},
      CaseSlow{ref, RandomDouble(r), RandomDouble(r)},
      AttemptFinished{ref, small, 4, RandomOutcome(r), RandomDouble(r), RandomText(r), RandomText(r)},
      CaseFinished{ref, RandomOutcome(r), RandomDouble(r), {Flag::kSlow, Flag::kStepSkipped}},
      DeviceLost{RandomText(r), RandomText(r)},
      RunCancelled{RandomText(r), small},
      RunFinished{RandomDouble(r)}};
  static_assert(std::size(bodies) == std::variant_size_v<EventBody>);
  return bodies[kind];
}

TEST(JournalTest, EveryKindOfEventReadsBackAsItWas) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    std::vector<Event> events;
    for (size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind) {
      const auto seq = static_cast<int64_t>(kind) + 1;
      events.push_back({seq, RandomInt(&random), RandomBody(kind, &random)});
      ASSERT_EQ(events.back().body.index(), kind);
      text += EncodeEvent(events.back());
    }
    Result<std::vector<Event>> read = ParseJournal(text, "j");
    ASSERT_TRUE(read.ok()) << read.error();
    ASSERT_EQ(read->size(), events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ((*read)[i].seq, events[i].seq);
      EXPECT_EQ((*read)[i].t_ms, events[i].t_ms);
      EXPECT_EQ((*read)[i].body.index(), i);
      // Equal events have equal lines: the encoder writes every field of them.
      EXPECT_EQ(EncodeEvent((*read)[i]), EncodeEvent(events[i]));
    }
    const auto& run = std::get<RunStarted>((*read)[0].body);
    EXPECT_EQ(run.facts, std::get<RunStarted>(events[0].body).facts);
    EXPECT_EQ(run.waivers, std::get<RunStarted>(events[0].body).waivers);
    const auto& planned = std::get<CasePlanned>((*read)[1].body);
    EXPECT_EQ(planned.params, std::get<CasePlanned>(events[1].body).params);
    EXPECT_EQ(planned.ref, std::get<CasePlanned>(events[1].body).ref);
    EXPECT_EQ(std::get<FindingReported>((*read)[8].body).finding,
              std::get<FindingReported>(events[8].body).finding);
    EXPECT_EQ(std::get<AttemptFinished>((*read)[12].body).outcome,
              std::get<AttemptFinished>(events[12].body).outcome);
    EXPECT_EQ(std::get<CaseFinished>((*read)[13].body).flags, std::get<CaseFinished>(events[13].body).flags);
  }
}

TEST(JournalTest, HostileBytesStayOnOneLegalLine) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 100; ++i) bytes += static_cast<char>(random());
    const std::string line = EncodeEvent({1, 0, StepReached{{bytes, bytes}, bytes}});
    EXPECT_TRUE(IsValidUtf8(line));
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    Result<std::vector<Event>> read = ParseJournal(line, "j");
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_EQ(std::get<StepReached>(read->at(0).body).name, CleanText(bytes));
  }
}

TEST(JournalTest, TextsAreCutUntilTheLineFits) {
  AttemptFinished ended{
      {"conv.a", ""}, 1, 1, Failed{}, 1, std::string(5'000'000, 'x'), std::string(5'000'000, '"')};
  const std::string line = EncodeEvent({1, 0, ended});
  ASSERT_FALSE(line.empty());
  EXPECT_LE(line.size(), kMaxJournalLine);
  EXPECT_TRUE(ParseJournal(line, "j").ok());
}

TEST(JournalTest, ATornLastLineIsLeftOut) {
  RunBuilder b;
  b.Pass("conv.a");
  std::string text;
  for (const Event& event : b.Events()) text += EncodeEvent(event);
  const size_t all = ParseJournal(text, "j")->size();
  for (size_t cut = 1; cut < 60; ++cut) {
    Result<std::vector<Event>> read = ParseJournal(text.substr(0, text.size() - cut), "j");
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_EQ(read->size(), all - 1);
  }
}

TEST(JournalTest, WhatANewerWriterAddsIsIgnored) {
  Result<std::vector<Event>> read =
      ParseJournal(R"({"v":"journal/1","seq":1,"t_ms":0,"ev":"Invented","x":[1,{"y":2}]})"
                   "\n"
                   R"({"v":"journal/1","seq":2,"t_ms":0,"ev":"PlanEnd","count":3,"more":{"a":null}})"
                   "\n"
                   R"({"v":"journal/1","seq":3,"t_ms":0,"ev":"CaseFinished","id":"a","flags":["new","slow"]})"
                   "\n",
                   "j");
  ASSERT_TRUE(read.ok()) << read.error();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(std::get<PlanEnd>((*read)[0].body).count, 3);
  EXPECT_EQ(std::get<CaseFinished>((*read)[1].body).flags, std::vector<Flag>{Flag::kSlow});
}

struct BadLine {
  const char* line;
  const char* message;
};

TEST(JournalTest, DamageIsNamedWithFileAndLine) {
  const BadLine rows[] = {
      {"garbage", "j:2: not a JSON object"},
      {"[1]", "j:2: not a JSON object"},
      {"", "j:2: not a JSON object"},
      {"\x00\xff", "j:2: not a JSON object"},
      {R"({"v":"journal/2","seq":2,"ev":"PlanEnd"})", "j:2: version \"journal/2\""},
      {R"({"seq":2,"ev":"PlanEnd"})", "j:2: version \"\""},
      {R"({"v":"journal/1","seq":4,"ev":"PlanEnd"})", "j:2: seq 4 follows 1"},
      {R"({"v":"journal/1","seq":"2","ev":"PlanEnd"})", "j:2: event.seq: expected an integer, found string"},
      {R"({"v":"journal/1","seq":2,"ev":"PlanEnd","count":1.5})", "PlanEnd.count: expected an integer"},
      {R"({"v":"journal/1","seq":2,"ev":"PlanEnd","count":18446744073709551615})", "expected an integer"},
      {R"({"v":"journal/1","seq":2,"ev":"CasePlanned","required":1})",
       "CasePlanned.required: expected true or"},
      {R"({"v":"journal/1","seq":2,"ev":"CasePlanned","layer":"moon"})", "unknown value \"moon\""},
      {R"({"v":"journal/1","seq":2,"ev":"CaseFinished","outcome":{"is":"won"}})", "unknown outcome \"won\""},
      {R"({"v":"journal/1","seq":2,"ev":"CaseFinished","outcome":"passed"})", "expected an object"},
      {R"({"v":"journal/1","seq":2,"ev":"RunStarted","facts":{"a":{"b":1}}})",
       "RunStarted.facts.a.b: expected"},
  };
  const std::string first = EncodeEvent({1, 0, PlanEnd{1, ""}});
  for (const BadLine& row : rows) {
    Result<std::vector<Event>> read = ParseJournal(first + row.line + "\n", "j");
    ASSERT_FALSE(read.ok()) << row.line;
    EXPECT_NE(read.error().find(row.message), std::string::npos) << read.error();
  }
}

TEST(JournalTest, ALineWithoutEndIsRefused) {
  EXPECT_FALSE(ParseJournal(std::string(3 << 20, ' '), "j").ok());
  EXPECT_FALSE(ParseJournal(std::string(3 << 20, '[') + "\n", "j").ok());
}

TEST(JournalWriterTest, WhatIsWrittenFoldsToTheSameVerdict) {
  const std::string path = testing::TempDir() + "journal_test." + std::to_string(getpid());
  RunBuilder b;
  b.Fail("conv.a", Wrong("wrong-value", Blame::kImage, "3 of 4 differ"));
  {
    auto writer = JournalWriter::Open(path);
    ASSERT_TRUE(writer.ok()) << writer.error();
    for (const Event& event : b.Events()) ASSERT_TRUE((*writer)->OnEvent(event, {}).ok());
    ASSERT_TRUE((*writer)->Finish({}).ok());
  }
  Result<std::vector<Event>> read = ReadJournal(path);
  ASSERT_TRUE(read.ok()) << read.error();
  Fold fold;
  for (const Event& event : *read) fold.Apply(event);
  EXPECT_EQ(Judge(fold.summary()).exit_code, 1);
  EXPECT_EQ(Judge(fold.summary()).root_cause->finding.detail, "3 of 4 differ");
  std::remove(path.c_str());
}

TEST(JournalWriterTest, AFullDiskAndAMissingFolderAreErrorsWithTheReason) {
  auto full = JournalWriter::Open("/dev/full");
  ASSERT_TRUE(full.ok()) << full.error();
  const Status status = (*full)->OnEvent({1, 0, PlanEnd{}}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("No space left on device"), std::string::npos) << status.error();
  auto missing = JournalWriter::Open("/nowhere/at/all/journal.jsonl");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find("No such file"), std::string::npos);
  EXPECT_FALSE(ReadJournal("/nowhere/at/all").ok());
  EXPECT_FALSE(ReadJournal("/tmp").ok());
}

}  // namespace
}  // namespace cudnn_ci
