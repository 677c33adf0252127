// The wire: what is encoded is decoded the same, and no bytes whatever make the decoder throw.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

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

TEST(WireTest, EveryMessageToTheWorkerComesBackTheSame) {
  const wire::Run run{7,   "p.check",  {{"i", int64_t{-3}}, {"f", 0.5}, {"b", true}, {"s", std::string("x")}},
                      1.5, 1ull << 62, {"a=1"}};
  const ToWorker messages[] = {
      Describe{}, CollectFacts{}, Configure{{{"k", "v"}}, {{"f", "w"}}, "n", "s", "u", "d"}, Warm{}, Canary{},
      run,        Shutdown{}};
  for (const ToWorker& m : messages) ExpectRoundTrip(m, DecodeToWorker);
}

TEST(WireTest, EveryMessageFromTheWorkerComesBackTheSame) {
  CaseFinished finished{3, 12, true, {SkipKind::kMemory, "need", "seen"}, "broken", true};
  const FromWorker messages[] = {Hello{},
                                 PluginFailed{"why"},
                                 PluginDescribed{},
                                 CheckDescribed{},
                                 FindingDescribed{},
                                 DescribeEnd{},
                                 Fact{"k", "v"},
                                 FactsEnd{},
                                 CanaryDone{true, "d"},
                                 CaseStarted{1},
                                 Step{1, "s", true},
                                 Expectation{1, "f", 2, "w"},
                                 FindingSaid{1, "slug", "d"},
                                 Measurement{1, "n", 2.5, "ms", "lower"},
                                 Attachment{1, "n", "m", "p"},
                                 Log{1, 2, "t"},
                                 Poisoned{1, "r"},
                                 Uncaught{1, "w"},
                                 finished};
  for (const FromWorker& m : messages) ExpectRoundTrip(m, DecodeFromWorker);
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
      Encode(FromWorker(CaseFinished{3, 12, true, {SkipKind::kMemory, "n", "s"}, "b", true}));
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

}  // namespace
}  // namespace cudnn_ci::wire
