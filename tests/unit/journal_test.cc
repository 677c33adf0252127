// Lines of the journal: what is written reads back, what is damaged is named.
#include "report/record/journal.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "base/text.h"
#include "golden_messages.h"
#include "mentions.h"
#include "model/record/notice_list.h"
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

constexpr unsigned kErrorKinds = static_cast<unsigned>(ErrorKind::kCancelled) + 1,
                   kCrashSites = static_cast<unsigned>(CrashSite::kDriver) + 1;

Outcome RandomOutcome(std::mt19937* random) {
  switch ((*random)() % 6) {
    case 0:
      return Passed{};
    case 1:
      return Failed{};
    case 2:
      return Skipped{static_cast<SkipKind>((*random)() % 4), RandomText(random), RandomText(random),
                     static_cast<Resource>((*random)() % 2 + 1)};
    case 3:
      return Blocked{RandomText(random)};
    case 4:
      return Errored{static_cast<ErrorKind>((*random)() % kErrorKinds), RandomText(random),
                     static_cast<CrashSite>((*random)() % kCrashSites)};
    default:
      return NotRun{RandomText(random)};
  }
}

Notice RandomNotice(std::mt19937* r) {
  return {NoticeCode::kWithoutDisturb, {{"checks", std::vector<std::string>{RandomText(r), RandomText(r)}}}};
}

RunStarted RandomRun(std::mt19937* r) {
  RunStarted run;
  run.run_id = RandomText(r);
  run.timestamp = RandomText(r);
  run.image = RandomText(r);
  run.command_line = RandomText(r);
  run.compatibility = {RandomText(r), RandomText(r), RandomText(r)};
  run.knowledge = {{RandomText(r), RandomText(r), RandomText(r), RandomText(r), RandomText(r)}, {}};
  run.subjects = {{RandomText(r), RandomText(r), {RandomText(r)}, {RandomText(r), RandomText(r)}}};
  run.devices = {{RandomText(r), RandomText(r), RandomText(r), RandomText(r)}};
  run.contract = {{"runner.driver", RandomText(r)}};
  run.facts = {{"system", {{"a.b", RandomText(r)}, {"c", ""}}}, {"torch", {}}};
  run.not_gated = {OtherNotice(RandomText(r)), OtherNotice("")};
  run.warnings = {RandomNotice(r)};
  run.plugins = {{RandomText(r), RandomText(r), RandomText(r), RandomText(r), RandomText(r)}};
  run.partial = {RandomNotice(r), OtherNotice(RandomText(r))};
  run.report_only = (*r)() % 2;
  run.shard_index = 3;
  run.shard_count = 7;
  run.merged_by = RandomText(r);
  run.parts = {{RandomText(r),
                RandomText(r),
                RandomText(r),
                RandomText(r),
                RandomText(r),
                {RandomText(r)},
                RandomText(r),
                RandomText(r),
                2.5}};
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
  planned.place = small;
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
      WaiverDeclared{
          {RandomText(r), RandomText(r), RandomText(r), RandomText(r), RandomText(r), RandomText(r)}},
      planned,
      PlanEnd{RandomInt(r), RandomText(r), RandomInt(r)},
      WorkerStarted{RandomInt(r), 2, RandomText(r), RandomText(r), RandomText(r), true, small},
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
      RunCancelled{static_cast<CancelReason>((*r)() % 3), small},
      RunFinished{RandomDouble(r)}};
  static_assert(std::size(bodies) == std::variant_size_v<EventBody>);
  return bodies[kind];
}

// The line of an event that comes first.
std::string FirstLine(const Event& event) {
  std::string chain;
  return EncodeEvent(event, &chain);
}

std::string Journal(const std::vector<Event>& events) {
  std::string chain, text;
  for (const Event& event : events) text += EncodeEvent(event, &chain);
  return text;
}

// Lines as they would be if their "h" were right.
std::string Sealed(const std::vector<std::string>& objects) {
  std::string chain, text;
  for (const std::string& object : objects) text += SealLine(object, &chain);
  return text;
}

TEST(JournalTest, EveryKindOfEventReadsBackAsItWas) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text, chain, again;
    std::vector<Event> events;
    for (size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind) {
      const auto seq = static_cast<int64_t>(kind) + 1;
      events.push_back({seq, RandomInt(&random), RandomBody(kind, &random)});
      ASSERT_EQ(events.back().body.index(), kind);
      text += EncodeEvent(events.back(), &chain);
    }
    Result<std::vector<Event>> read = ParseJournal(text, "j");
    ASSERT_TRUE(read.ok()) << read.error();
    ASSERT_EQ(read->size(), events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ((*read)[i].seq, events[i].seq);
      EXPECT_EQ((*read)[i].t_ms, events[i].t_ms);
      EXPECT_EQ((*read)[i].body.index(), i);
    }
    // Equal events have equal lines: the encoder writes every field of them.
    chain.clear();
    for (const Event& event : *read) again += EncodeEvent(event, &chain);
    EXPECT_EQ(again, text);
    const auto& run = std::get<RunStarted>((*read)[0].body);
    EXPECT_EQ(run.facts, std::get<RunStarted>(events[0].body).facts);
    EXPECT_EQ(run.plugins, std::get<RunStarted>(events[0].body).plugins);
    EXPECT_EQ(run.compatibility, std::get<RunStarted>(events[0].body).compatibility);
    EXPECT_EQ(std::get<WaiverDeclared>((*read)[1].body).waiver,
              std::get<WaiverDeclared>(events[1].body).waiver);
    const auto& planned = std::get<CasePlanned>((*read)[2].body);
    EXPECT_EQ(planned.params, std::get<CasePlanned>(events[2].body).params);
    EXPECT_EQ(planned.ref, std::get<CasePlanned>(events[2].body).ref);
    EXPECT_EQ(planned.place, std::get<CasePlanned>(events[2].body).place);
    EXPECT_EQ(run.parts, std::get<RunStarted>(events[0].body).parts);
    EXPECT_EQ(std::get<FindingReported>((*read)[9].body).finding,
              std::get<FindingReported>(events[9].body).finding);
    EXPECT_EQ(std::get<AttemptFinished>((*read)[13].body).outcome,
              std::get<AttemptFinished>(events[13].body).outcome);
    EXPECT_EQ(std::get<CaseFinished>((*read)[14].body).flags, std::get<CaseFinished>(events[14].body).flags);
  }
}

TEST(JournalTest, HostileBytesStayOnOneLegalLine) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (int i = 0; i < 100; ++i) bytes += static_cast<char>(random());
    const std::string line = FirstLine({1, 0, StepReached{{bytes, bytes}, bytes}});
    EXPECT_TRUE(IsValidUtf8(line));
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    Result<std::vector<Event>> read = ParseJournal(line, "j");
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_EQ(std::get<StepReached>(read->at(0).body).name, CleanText(bytes));
  }
}

// Whoever can write a file can write a journal whose chain is whole.
TEST(JournalTest, HostileTextOfAJournalIsCleanOnceItIsRead) {
  std::string chain;
  const std::string line = SealLine(
      R"({"v":"journal/2","seq":1,"ev":"Step","id":"a\u001b[31m","name":"x\u001b[2J\r\n\u0007\u202e"})",
      &chain);
  const Result<std::vector<Event>> read = ParseJournal(line, "j");
  ASSERT_TRUE(read.ok()) << read.error();
  const auto& step = std::get<StepReached>(read->at(0).body);
  EXPECT_EQ(step.ref.id, "a");
  EXPECT_EQ(step.name, "x\n\\x07\\u202E");
}

TEST(JournalTest, TextsAreCutUntilTheLineFits) {
  AttemptFinished ended{
      {"conv.a", ""}, 1, 1, Failed{}, 1, std::string(5'000'000, 'x'), std::string(5'000'000, '"')};
  const std::string line = FirstLine({1, 0, ended});
  ASSERT_FALSE(line.empty());
  EXPECT_LE(line.size(), kMaxJournalLine);
  EXPECT_TRUE(ParseJournal(line, "j").ok());
}

TEST(JournalTest, ATornLastLineIsLeftOut) {
  RunBuilder b;
  b.Pass("conv.a");
  const std::string text = Journal(b.Events());
  const size_t all = ParseJournal(text, "j")->size();
  for (size_t cut = 1; cut < 60; ++cut) {
    Result<std::vector<Event>> read = ParseJournal(text.substr(0, text.size() - cut), "j");
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_EQ(read->size(), all - 1);
  }
}

TEST(JournalTest, NothingWholeIsNoJournal) {
  for (const char* text : {"", "{\"v\":\"journal/2\",\"se"}) {
    const Result<std::vector<Event>> read = ParseJournal(text, "j");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error(), "j: holds no whole line; nothing was recorded");
  }
}

// A record that was begun by a run and ended by somebody else.
TEST(JournalTest, ATokenThatTheBeginningDidNotPromiseIsRefused) {
  RunStarted begin;
  begin.token_sha256 = Sha256Hex("the word of this run");
  const auto problem = [](const RunStarted& started, const std::string& token) {
    const Result<std::vector<Event>> read =
        ParseJournal(Journal({{1, 0, started}, {2, 1, RunFinished{1, token}}}), "j");
    return read.ok() ? "" : read.error();
  };
  EXPECT_EQ(problem(begin, "the word of this run"), "");
  EXPECT_EQ(problem(RunStarted{}, ""), "");
  const std::string other = "j: the token at its end does not match the SHA-256 at its beginning";
  EXPECT_EQ(problem(begin, "another word"), other);
  EXPECT_EQ(problem(begin, ""), other);
  EXPECT_EQ(problem(RunStarted{}, "a word"), other);
  EXPECT_TRUE(ParseJournal(Journal({{1, 0, begin}}), "j").ok()) << "a run that has not finished";
}

TEST(JournalTest, ATornLineBehindTheEndOfTheRunIsRefused) {
  RunBuilder b;
  b.Pass("conv.a");
  const Result<std::vector<Event>> read = ParseJournal(Journal(b.Events()) + "{\"v\":", "j");
  ASSERT_FALSE(read.ok());
  GoldenMessages("journal.txt").Row("torn line", read.error());
  EXPECT_THAT(read.error(), Mentions("j:")) << read.error();
}

TEST(JournalTest, WhatANewerWriterAddsIsIgnored) {
  std::vector<std::string> unknown;
  Result<std::vector<Event>> read = ParseJournal(
      Sealed({R"({"v":"journal/2","seq":1,"t_ms":0,"ev":"Invented","x":[1,{"y":2}]})",
              R"({"v":"journal/2","seq":2,"t_ms":0,"ev":"PlanEnd","count":3,"more":{"a":null}})",
              R"({"v":"journal/2","seq":3,"t_ms":0,"ev":"CaseFinished","id":"a","flags":["new","slow"]})",
              R"({"v":"journal/2","seq":4,"t_ms":0,"ev":"Invented"})"}),
      "j", &unknown);
  ASSERT_TRUE(read.ok()) << read.error();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(std::get<PlanEnd>((*read)[0].body).count, 3);
  EXPECT_EQ(std::get<CaseFinished>((*read)[1].body).flags, std::vector<Flag>{Flag::kSlow});
  EXPECT_EQ(unknown, std::vector<std::string>{"Invented"});
}

// A red run whose lines are few enough to try every bit of.
std::vector<std::string> RedLines() {
  RunBuilder b;
  b.run = {};
  b.run.run_id = "run-1";
  b.Pass("conv.a").Fail("conv.b", Wrong("wrong-value", Blame::kImage));
  std::vector<std::string> lines;
  std::string chain;
  for (const Event& event : b.Events()) lines.push_back(EncodeEvent(event, &chain));
  return lines;
}

std::string Text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(JournalTest, EveryFlippedBitIsNoticed) {
  const std::string text = Text(RedLines());
  ASSERT_TRUE(ParseJournal(text, "j").ok());
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_FALSE(ParseJournal(flipped, "j").ok()) << "bit " << bit << " of byte " << at;
    }
  }
}

TEST(JournalTest, LinesThatAreDroppedDoubledOrSwappedAreNoticed) {
  const std::vector<std::string> lines = RedLines();
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    std::vector<std::string> dropped = lines, doubled = lines, swapped = lines;
    dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(i));
    doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    std::swap(swapped[i], swapped[i + 1]);
    for (const auto& edited : {dropped, doubled, swapped})
      EXPECT_FALSE(ParseJournal(Text(edited), "j").ok()) << i;
  }
}

TEST(JournalTest, ALineOfAnotherRunIsNoticedWithItsNumber) {
  // The same seq, the same event; only what came before differs.
  std::vector<std::string> lines = RedLines();
  RunBuilder b;
  b.run = {};
  b.run.run_id = "run-2";
  b.Pass("conv.a").Pass("conv.b");
  std::string chain;
  std::vector<std::string> other;
  for (const Event& event : b.Events()) other.push_back(EncodeEvent(event, &chain));
  lines[2] = other[2];
  const Result<std::vector<Event>> read = ParseJournal(Text(lines), "j");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(GoldenMessages("journal.txt").Row("line 3 of another run", read.error()), Mentions("j:3:"));
}

struct BadLine {
  const char* object;
  const char* argument;
};

TEST(JournalTest, DamageIsNamedWithFileAndLine) {
  const std::string first = R"({"v":"journal/2","seq":1,"t_ms":0,"ev":"PlanEnd","count":1})";
  std::string chain;
  const std::string first_line = SealLine(first, &chain);
  for (const char* line : {"garbage", "[1]", "", "\x01\xff"}) {
    const Result<std::vector<Event>> read = ParseJournal(first_line + line + "\n", "j");
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_EQ(read.error(), "j:2: not a JSON object");
  }
  const BadLine rows[] = {
      {R"({"v":"journal/1","seq":2,"ev":"PlanEnd"})", "j:2: version \"journal/1\""},
      {R"({"seq":2,"ev":"PlanEnd"})", "j:2: version \"\""},
      {R"({"v":"journal/2","seq":4,"ev":"PlanEnd"})", "j:2: seq 4 follows 1"},
      {R"({"v":"journal/2","seq":"2","ev":"PlanEnd"})", "j:2: event.seq:"},
      {R"({"v":"journal/2","seq":2,"ev":"PlanEnd","count":1.5})", "PlanEnd.count:"},
      {R"({"v":"journal/2","seq":2,"ev":"PlanEnd","count":18446744073709551615})", "PlanEnd.count:"},
      {R"({"v":"journal/2","seq":2,"ev":"CasePlanned","required":1})", "CasePlanned.required:"},
      {R"({"v":"journal/2","seq":2,"ev":"CasePlanned","layer":"moon"})", "unknown value \"moon\""},
      {R"({"v":"journal/2","seq":2,"ev":"AttemptStarted","mode":"at once"})", "unknown value \"at once\""},
      {R"({"v":"journal/2","seq":2,"ev":"RunCancelled","reason":"boredom"})", "unknown value \"boredom\""},
      {R"({"v":"journal/2","seq":2,"ev":"Finding","finding":{"where":"bar"}})", "unknown value \"bar\""},
      {R"({"v":"journal/2","seq":2,"ev":"CaseFinished","outcome":{"is":"won"}})", "unknown outcome \"won\""},
      {R"({"v":"journal/2","seq":2,"ev":"CaseFinished","outcome":"passed"})", "CaseFinished.outcome:"},
      {R"({"v":"journal/2","seq":2,"ev":"RunStarted","facts":{"a":{"b":1}}})", "RunStarted.facts.a.b:"},
      {R"({"v":"journal/2","seq":2,"ev":"RunStarted","warnings":["words alone"]})",
       "RunStarted.warning_notices:"},
      {R"({"v":"journal/2","seq":2,"ev":"RunStarted","partial":"filtered"})", "RunStarted.partial_notices:"},
  };
  GoldenMessages golden("journal.txt");
  for (const BadLine& row : rows) {
    Result<std::vector<Event>> read = ParseJournal(Sealed({first, row.object}), "j");
    ASSERT_FALSE(read.ok()) << row.object;
    EXPECT_THAT(golden.Row(row.object, read.error()), Mentions(row.argument));
  }
}

TEST(JournalTest, ALineWithoutEndIsRefused) {
  EXPECT_FALSE(ParseJournal(std::string(3 << 20, ' '), "j").ok());
  EXPECT_FALSE(ParseJournal(std::string(3 << 20, '[') + "\n", "j").ok());
}

}  // namespace
}  // namespace cudnn_ci
