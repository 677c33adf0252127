// The wire: what is encoded is decoded the same, and no bytes whatever make the decoder throw.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "wire/entries.h"
#include "wire/message.h"
#include "wire/socket.h"

namespace cudnn_ci::wire {
namespace {

// Encoding what was decoded gives the same packet: nothing was lost or changed.
template <class Variant, class Decode>
void ExpectRoundTrip(const Variant& message, Decode decode) {
  const std::string packet = Encode(message);
  EXPECT_LE(packet.size(), kMaxPacket);
  const auto decoded = decode(packet);
  ASSERT_TRUE(decoded.ok()) << decoded.error() << "\n" << packet;
  EXPECT_EQ(decoded->index(), message.index());
  EXPECT_EQ(Encode(*decoded), packet);
}

// What decodes as nothing shows the fuzzer the way to no message: a new field is missing there.
TEST(WireTest, EveryFileOfTheCorpusIsAMessage) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CUDNN_CI_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string packet((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto from = DecodeFromWorker(packet);
    const auto to = DecodeToWorker(packet);
    EXPECT_TRUE(from.ok() || to.ok())
        << entry.path() << ": " << (from.ok() ? "" : from.error()) << "; " << (to.ok() ? "" : to.error());
    ++files;
  }
  EXPECT_GE(files, 30u);
}

TEST(WireTest, EveryMessageToTheWorkerComesBackTheSame) {
  const wire::Run run{7,   "p.check",  {{"i", int64_t{-3}}, {"f", 0.5}, {"b", true}, {"s", std::string("x")}},
                      1.5, 1ull << 62, {"a=1"}};
  const ToWorker messages[] = {Describe{},
                               CollectFacts{},
                               Configure{{{"k", "v"}}, {{"f", "w"}}, "n", "s", "u", "d", {"/a", "/b"}},
                               wire::Known{"1:t,1:x,"},
                               Warm{},
                               Prepare{},
                               wire::PrepareCase{"p.check", {{"i", int64_t{-3}}}, 1ull << 62},
                               Canary{},
                               run,
                               Validate{7, "p.check", {{"i", int64_t{-3}}}},
                               Shutdown{}};
  for (const ToWorker& m : messages) ExpectRoundTrip(m, DecodeToWorker);
}

TEST(WireTest, EntriesArePackedInPieces) {
  const std::map<std::string, std::string> entries = {
      {"a", ""}, {"b.0", "x:1,2:"}, {"c", std::string("\n\"\0\xc3\xa4", 5)}, {"d", std::string(300, 'd')}};
  const std::vector<std::string> texts = wire::PackEntries(entries, 40);
  ASSERT_EQ(texts.size(), 2u) << "a long one has a text of its own";
  EXPECT_EQ(wire::UnpackEntries(texts[0] + texts[1]), entries);
  EXPECT_EQ(wire::UnpackEntries("1:k,1:v,1:l,1"), (std::map<std::string, std::string>{{"k", "v"}}));
  for (const char* none : {"", ":", "1:", "1:k", "1:k,", "1:k,:", "2:k,1:v,", "-1:k,1:v,",
                           "99999999999999999999:k,", "18446744073709551615:k,1:v,", "1;k,1:v,"})
    EXPECT_TRUE(wire::UnpackEntries(none).empty()) << none;
  EXPECT_TRUE(wire::PackEntries({}, 40).empty());
}

TEST(WireTest, WhatAWorkerSaysIsClean) {
  const std::string hostile = "a\x1b[31mb\r\nc\x07", clean = "ab\nc\\x07";
  const auto step = DecodeFromWorker(Encode(FromWorker(Step{1, hostile, false})));
  EXPECT_EQ(std::get<Step>(*step).name, clean);
  CheckDescribed described;
  described.check.summary = hostile;
  described.check.params.emplace_back().summary = hostile;
  const auto check = DecodeFromWorker(Encode(FromWorker(described)));
  EXPECT_EQ(std::get<CheckDescribed>(*check).check.summary, clean);
  EXPECT_EQ(std::get<CheckDescribed>(*check).check.params[0].summary, clean);
  const auto fact = DecodeFromWorker(Encode(FromWorker(Fact{hostile, hostile})));
  EXPECT_EQ(std::get<Fact>(*fact).key, clean);
  EXPECT_EQ(std::get<Fact>(*fact).value, clean);
}

// A file is looked up by its path, a command that is not clean is refused, and the harness is believed.
TEST(WireTest, WhatHasToStayAsItIsIsNotCleaned) {
  const std::string hostile = "a\x1b[31mb";
  const auto attachment = DecodeFromWorker(Encode(FromWorker(Attachment{1, "n", "m", hostile})));
  EXPECT_EQ(std::get<Attachment>(*attachment).path, hostile);
  const auto said = DecodeFromWorker(Encode(FromWorker(FindingSaid{1, "slug", "d", hostile, Where::kImage})));
  EXPECT_EQ(std::get<FindingSaid>(*said).command, hostile);
  Configure configure;
  configure.subject_folders = {hostile};
  EXPECT_EQ(std::get<Configure>(*DecodeToWorker(Encode(ToWorker(configure)))).subject_folders[0], hostile);
}

TEST(WireTest, EveryMessageFromTheWorkerComesBackTheSame) {
  CaseFinished finished{3, 12, Skipped{SkipKind::kMemory, "need", "seen", Resource::kHostMemory}, "broken",
                        true};
  const FromWorker messages[] = {Hello{},
                                 PluginFailed{"why"},
                                 PluginDescribed{},
                                 CheckDescribed{},
                                 FindingDescribed{},
                                 DescribeEnd{},
                                 Fact{"k", "v"},
                                 FactsEnd{},
                                 FactsEnd{"threw"},
                                 Validated{4, {{"groups", "3 does not divide 64"}}, "threw"},
                                 CanaryDone{true, "d"},
                                 CaseStarted{1},
                                 Step{1, "s", true},
                                 Expectation{1, "f", 2, "w"},
                                 FindingSaid{1, "slug", "d"},
                                 FindingSaid{1, "slug", "d", "ENV A=b", Where::kImage},
                                 Measurement{1, "n", 2.5, "ms", "lower"},
                                 Attachment{1, "n", "m", "p"},
                                 Log{1, 2, "t"},
                                 Poisoned{1, "r"},
                                 Uncaught{1, "w"},
                                 Crashed{{11, 1, 0xfff0, "/a \"b\"%\n\xff", {{1, "/m", UINT64_MAX, ""}, {}}}},
                                 finished};
  for (const FromWorker& m : messages) ExpectRoundTrip(m, DecodeFromWorker);
}

// Every field by itself: a field read from another's place comes back the same packet all the same.
TEST(WireTest, EveryFieldOfACheckComesBackInItsPlace) {
  using Flag = bool CheckInfo::*;
  for (const Flag flag :
       {&CheckInfo::shareable, &CheckInfo::per_subject, &CheckInfo::disturbs, &CheckInfo::pooled,
        &CheckInfo::second_opinion, &CheckInfo::concurrent, &CheckInfo::slow_cases, &CheckInfo::validates}) {
    CheckInfo c;
    c.*flag = true;
    const auto decoded = DecodeFromWorker(Encode(FromWorker(CheckDescribed{c})));
    ASSERT_TRUE(decoded.ok()) << decoded.error();
    const CheckInfo& d = std::get<CheckDescribed>(*decoded).check;
    for (const Flag other :
         {&CheckInfo::shareable, &CheckInfo::per_subject, &CheckInfo::disturbs, &CheckInfo::pooled,
          &CheckInfo::second_opinion, &CheckInfo::concurrent, &CheckInfo::slow_cases, &CheckInfo::validates})
      EXPECT_EQ(d.*other, other == flag);
  }
  CheckInfo c;
  c.name = "p.check";
  c.plugin = "p";
  c.summary = "what it does";
  c.layer = Layer::kInit;
  c.devices = Devices::kAll;
  c.timeout_s = 1.5;
  c.prerequisites = {"p.first", "q.second"};
  c.judges = {"image.toolkit", "image.cudnn"};
  c.params = {{"n", ParamType::kI64, "a number", "3", {}, -5, 9, {}},
              {"shape",
               ParamType::kShape,
               "",
               std::nullopt,
               {},
               0,
               0,
               {{"x", ParamType::kStringList, "", "[]", {"a", "b"}, 1, 2, {}}}}};
  const auto decoded = DecodeFromWorker(Encode(FromWorker(CheckDescribed{c})));
  ASSERT_TRUE(decoded.ok()) << decoded.error();
  const CheckInfo& d = std::get<CheckDescribed>(*decoded).check;
  EXPECT_EQ(d.name, c.name);
  EXPECT_EQ(d.plugin, c.plugin);
  EXPECT_EQ(d.summary, c.summary);
  EXPECT_EQ(d.layer, c.layer);
  EXPECT_EQ(d.devices, c.devices);
  EXPECT_EQ(d.timeout_s, c.timeout_s);
  EXPECT_EQ(d.prerequisites, c.prerequisites);
  EXPECT_EQ(d.judges, c.judges);
  ASSERT_EQ(d.params.size(), 2u);
  EXPECT_EQ(d.params[0].name, "n");
  EXPECT_EQ(d.params[0].type, ParamType::kI64);
  EXPECT_EQ(d.params[0].summary, "a number");
  EXPECT_EQ(d.params[0].default_json, "3");
  EXPECT_EQ(d.params[0].min_i64, -5);
  EXPECT_EQ(d.params[0].max_i64, 9);
  EXPECT_EQ(d.params[1].type, ParamType::kShape);
  EXPECT_FALSE(d.params[1].default_json.has_value());
  ASSERT_EQ(d.params[1].fields.size(), 1u);
  EXPECT_EQ(d.params[1].fields[0].allowed, (std::vector<std::string>{"a", "b"}));
}

TEST(WireTest, EveryFieldOfAPluginComesBackInItsPlace) {
  PluginDescribed p;
  p.info.name = "p";
  p.info.version = "1.2.3";
  p.info.summary = "words";
  p.info.abi_minor = 7;
  for (const bool facts : {false, true}) {
    p.info.has_facts = facts;
    p.info.facts_per_subject = !facts;
    const auto decoded = DecodeFromWorker(Encode(FromWorker(p)));
    ASSERT_TRUE(decoded.ok()) << decoded.error();
    const PluginInfo& d = std::get<PluginDescribed>(*decoded).info;
    EXPECT_EQ(d.name, "p");
    EXPECT_EQ(d.version, "1.2.3");
    EXPECT_EQ(d.summary, "words");
    EXPECT_EQ(d.abi_minor, 7u);
    EXPECT_EQ(d.has_facts, facts);
    EXPECT_EQ(d.facts_per_subject, !facts);
  }
}

TEST(WireTest, ACommandIsTypedSomewhere) {
  FindingDescribed finding{
      {"slug", Severity::kNote, Blame::kUndetermined, "s", "r", "l", "p", "nvidia-smi", Where::kHost, true}};
  const auto decoded = DecodeFromWorker(Encode(FromWorker(finding)));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<FindingDescribed>(*decoded).finding.command, "nvidia-smi");
  EXPECT_EQ(std::get<FindingDescribed>(*decoded).finding.where, Where::kHost);
  EXPECT_TRUE(std::get<FindingDescribed>(*decoded).finding.of_result);
  finding.finding.where = static_cast<Where>(9);
  EXPECT_FALSE(DecodeFromWorker(Encode(FromWorker(finding))).ok());
}

TEST(WireTest, AReportedLineIsTypedSomewhere) {
  FindingSaid said{1, "slug", "detail", "ENV A=b", Where::kImage};
  const auto decoded = DecodeFromWorker(Encode(FromWorker(said)));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::get<FindingSaid>(*decoded).detail, "detail");
  EXPECT_EQ(std::get<FindingSaid>(*decoded).command, "ENV A=b");
  EXPECT_EQ(std::get<FindingSaid>(*decoded).where, Where::kImage);
  said.where = static_cast<Where>(9);
  EXPECT_FALSE(DecodeFromWorker(Encode(FromWorker(said))).ok());
}

// Enumerators become indices of tables: one out of range must not be taken for a value.
TEST(WireTest, ValuesOutsideTheirRangeAreNotDecoded) {
  FindingDescribed finding{{"slug", Severity::kNote, Blame::kUndetermined, "s", "r", "l", "p"}};
  CheckInfo check;
  check.params = {{"n", ParamType::kShape, "", std::nullopt, {}, 0, 0, {}}};
  const CaseFinished finished{3, 12, Skipped{SkipKind::kVersion, "n", "s", Resource::kHostMemory}, "", false};
  const struct {
    FromWorker message;
    std::string field;
    int last;
  } rows[] = {{CheckDescribed{check}, "layer", static_cast<int>(Layer::kOther)},
              {CheckDescribed{check}, "devices", static_cast<int>(Devices::kNone)},
              {CheckDescribed{check}, "type", static_cast<int>(ParamType::kShape)},
              {finding, "severity", static_cast<int>(Severity::kNote)},
              {finding, "blame", static_cast<int>(Blame::kUndetermined)},
              {finished, "kind", static_cast<int>(SkipKind::kVersion)},
              {finished, "resource", static_cast<int>(Resource::kHostMemory)}};
  for (const auto& row : rows) {
    const std::string packet = Encode(row.message), before = "\"" + row.field + "\":";
    const std::string value = before + std::to_string(row.last);
    ASSERT_NE(packet.find(value), std::string::npos) << packet;
    ASSERT_TRUE(DecodeFromWorker(packet).ok()) << packet;
    for (const char* hostile : {"99", "7", "-1", "4294967296"}) {
      std::string changed = packet;
      changed.replace(changed.find(value), value.size(), before + hostile);
      EXPECT_FALSE(DecodeFromWorker(changed).ok()) << changed;
    }
  }
}

TEST(WireTest, MoreProblemsThanTheBoundAreNotDecoded) {
  Validated v{1, {}, ""};
  for (size_t i = 0; i < 2 * kMaxProblems; ++i) v.problems.push_back({"n", "w"});
  const std::string packet = Encode(FromWorker(v));
  const auto decoded = DecodeFromWorker(packet);
  ASSERT_TRUE(decoded.ok()) << decoded.error();
  EXPECT_EQ(std::get<Validated>(*decoded).problems.size(), kMaxProblems);
  std::string more = packet;
  more.insert(more.find('[') + 1, R"({"parameter":"n","why":"w"},)");
  EXPECT_FALSE(DecodeFromWorker(more).ok());
}

TEST(WireTest, TextThatIsTooLongOrNotUtf8IsCutAndRepaired) {
  for (const char byte : {'\xff', '\x01', 'x', '"'}) {
    const std::string packet = Encode(FromWorker(Log{1, 0, std::string(1 << 20, byte)}));
    EXPECT_LE(packet.size(), kMaxPacket);
    const auto decoded = DecodeFromWorker(packet);
    ASSERT_TRUE(decoded.ok()) << decoded.error();
    EXPECT_FALSE(std::get<Log>(*decoded).text.empty());
  }
}

TEST(WireTest, NoBytesMakeTheDecoderThrow) {
  std::mt19937 random(1);
  const std::string seed =
      Encode(FromWorker(CaseFinished{3, 12, Skipped{SkipKind::kMemory, "n", "s"}, "b", true}));
  for (int i = 0; i < 20000; ++i) {
    std::string packet = seed;
    for (int n = static_cast<int>(random() % 4); n >= 0; --n)
      packet[random() % packet.size()] = static_cast<char>(random());
    if (i % 3 == 0) packet.resize(random() % packet.size());
    EXPECT_NO_THROW({
      (void)DecodeFromWorker(packet);
      (void)DecodeToWorker(packet);
    });
  }
  EXPECT_FALSE(DecodeFromWorker(std::string(kMaxPacket, '[')).ok());
}

TEST(SocketTest, WhatADyingSideHadSentArrivesThoughItReadNothing) {
  Result<SocketPair> pair = MakeSocketPair();
  ASSERT_TRUE(pair.ok());
  ASSERT_EQ(Send(pair->ours.get(), "never read"), Io::kOk);
  ASSERT_EQ(Send(pair->theirs.get(), "last words"), Io::kOk);
  pair->theirs.Close();
  std::string packet;
  EXPECT_EQ(Receive(pair->ours.get(), &packet), Io::kOk);
  EXPECT_EQ(packet, "last words");
  EXPECT_EQ(Receive(pair->ours.get(), &packet), Io::kClosed);
}

TEST(SocketTest, APacketThatIsTooLongIsDroppedAndSaidToBe) {
  Result<SocketPair> pair = MakeSocketPair();
  ASSERT_TRUE(pair.ok());
  const std::string big(kMaxPacket + 1, 'x');
  ASSERT_EQ(send(pair->theirs.get(), big.data(), big.size(), 0), static_cast<ssize_t>(big.size()));
  std::string packet;
  EXPECT_EQ(Receive(pair->ours.get(), &packet), Io::kTooLong);
}

std::string CrashedPacket(const std::string& address, const std::string& module, size_t frames,
                          const std::string& signal = "11") {
  std::string packet = R"({"m":"crashed","signal":)" + signal + R"(,"code":1,"address":")" + address +
                       R"(","module":")" + module + R"(","frames":[)";
  for (size_t i = 0; i < frames; ++i)
    packet += std::string(i > 0 ? "," : "") + R"({"a":"0x1","m":"/x","o":"0x2"})";
  return packet + "]}";
}

TEST(WireTest, ACrashIsTakenAsItIsWrittenOrNotAtAll) {
  const auto good = DecodeFromWorker(CrashedPacket("0xffffffffffffffff", "/a%20b%25", kMaxCrashFrames));
  ASSERT_TRUE(good.ok()) << good.error();
  const Crash& crash = std::get<Crashed>(*good).crash;
  EXPECT_EQ(crash.address, UINT64_MAX);
  EXPECT_EQ(crash.module, "/a b%");
  EXPECT_EQ(crash.frames.size(), kMaxCrashFrames);
  for (const std::string& bad :
       {CrashedPacket("ff", "", 1), CrashedPacket("0x", "", 1), CrashedPacket("0x1ffffffffffffffff", "", 1),
        CrashedPacket("0x-1", "", 1), CrashedPacket("0x1", "%", 1), CrashedPacket("0x1", "%2", 1),
        CrashedPacket("0x1", "%zz", 1), CrashedPacket("0x1", "", kMaxCrashFrames + 1),
        CrashedPacket("0x1", "", 1, "9"), CrashedPacket("0x1", "", 1, "0"),
        CrashedPacket("0x1", "", 1, "4294967307")})
    EXPECT_FALSE(DecodeFromWorker(bad).ok()) << bad;
}

}  // namespace
}  // namespace cudnn_ci::wire
