// The base layer: text cleaning and cutting, patterns, hashes.
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>

#include <limits>
#include <random>

#include "base/json_bytes.h"
#include "base/sha256.h"
#include "base/sha256_blocks.h"
#include "base/signal_text.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"

namespace cudnn_ci {
namespace {

// XML 1.0's Char production, of valid UTF-8.
bool IsXmlText(const std::string& text) {
  char32_t c = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = DecodeUtf8(text, i, &c);
    if (length == 0) return false;
    const bool legal = c == 0x9 || c == 0xA || c == 0xD || (c >= 0x20 && c <= 0xD7FF) ||
                       (c >= 0xE000 && c <= 0xFFFD) || (c >= 0x10000 && c <= 0x10FFFF);
    if (!legal) return false;
    i += length;
  }
  return true;
}

#if __GLIBC_PREREQ(2, 32)
// They make a line read as another: https://trojansource.codes
TEST(CleanTextTest, EscapesWhatTurnsTheDirectionOfText) {
  EXPECT_EQ(CleanText("a\u202Eb\u2066c\u2069d\u061Ce"), "a\\u202Eb\\u2066c\\u2069d\\u061Ce");
  for (const char* mark : {"\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D", "\u2067", "\u2068"})
    EXPECT_EQ(CleanText(mark).substr(0, 3), "\\u2") << mark;
  for (const char* text : {"\u200D", "\u2010", "\u2029", "\u206A", "\u05D0"})
    EXPECT_EQ(CleanText(text), text);
}

TEST(SignalText, SaysWhatGlibcSays) {
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    const char* name = sigabbrev_np(signal);
    if (name == nullptr) continue;  // glibc's own, of the threads
    EXPECT_EQ(SignalText(signal), "SIG" + std::string(name) + " (" + sigdescr_np(signal) + ")");
  }
}
#endif

TEST(SignalText, NamesNoSignalThatHasNoName) {
  EXPECT_EQ(SignalText(0), "signal 0");
  EXPECT_EQ(SignalName(0), "signal 0");
  EXPECT_EQ(SignalName(SIGALRM), "SIGALRM");
  EXPECT_EQ(SignalText(SIGRTMIN + 1), "signal " + std::to_string(SIGRTMIN + 1));
}

TEST(CleanText, RemovesTerminalSequences) {
  EXPECT_EQ(CleanText("\x1B[1;31mred\x1B[0m"), "red");
  EXPECT_EQ(CleanText("\x1B]0;title\x07text"), "text");
  EXPECT_EQ(CleanText("\x1B]8;;http://x\x1B\\link\x1B]8;;\x1B\\"), "link");
  EXPECT_EQ(CleanText("a\x1B(Bb"), "ab");
  EXPECT_EQ(CleanText("cut \x1B[3"), "cut ");
  EXPECT_EQ(CleanText("end \x1B"), "end \\x1B");
}

TEST(CleanText, AnUnterminatedControlStringKeepsTheEvidenceBehindIt) {
  EXPECT_EQ(CleanText("\x1B]0;lost\nSIGSEGV"), "0;lost\nSIGSEGV");
}

TEST(CleanText, MakesLineEndsOne) { EXPECT_EQ(CleanText("a\r\nb\rc\n"), "a\nb\nc\n"); }

TEST(CleanText, ShowsWhatIsNotText) {
  EXPECT_EQ(CleanText(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(CleanText("\xFF"), "\\xFF");
  EXPECT_EQ(CleanText("\xEF\xBF\xBF"), "\\uFFFF");
  EXPECT_EQ(CleanText("\xC2\x9B"), "\\u009B");
  EXPECT_EQ(CleanText("\xED\xA0\x80"), "\\xED\\xA0\\x80");  // a surrogate
  EXPECT_EQ(CleanText("\xC0\xAF"), "\\xC0\\xAF");           // overlong
  EXPECT_EQ(CleanText("\xE2\x82"), "\\xE2\\x82");           // cut off
  EXPECT_EQ(CleanText("Größe €\t\xF0\x9F\x98\x80"), "Größe €\t\xF0\x9F\x98\x80");
}

TEST(CleanText, RandomBytesBecomeXmlTextAndStaySo) {
  std::mt19937 random(20261120);
  const std::string likely = "\x1B[]0;m\r\n\xE2\x82\xAC\xED\xA0\xF4\x90\xEF\xBF\xBE\\x a";
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes)
      c = random() % 2 == 0 ? likely[random() % likely.size()] : static_cast<char>(random());
    const std::string once = CleanText(bytes);
    ASSERT_TRUE(IsXmlText(once)) << once;
    ASSERT_EQ(CleanText(once), once);
  }
}

TEST(CleanText, PrintableAsciiIsFoundAtEveryPlace) {
  for (size_t size = 0; size < 40; ++size) {
    EXPECT_TRUE(IsPrintableAscii(std::string(size, '~') + " "));
    for (size_t at = 0; at < size; ++at)
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, 'a');
        text[at] = static_cast<char>(byte);
        const bool printable = byte >= 0x20 && byte < 0x7F;
        ASSERT_EQ(IsPrintableAscii(text), printable) << size << " " << at << " " << byte;
        ASSERT_EQ(IsPrintableAscii(text, '"', '\\'), printable && byte != '"' && byte != '\\');
      }
  }
}

TEST(CleanLine, IsOneLineCutOnACharacterBorder) {
  EXPECT_EQ(CleanLine(" a\nb\tc\n"), "a b c");
  EXPECT_EQ(CleanLine("12345", 5), "12345");
  EXPECT_EQ(CleanLine("123456", 5), "12...");
  EXPECT_EQ(CleanLine("1\xE2\x82\xAC"
                      "45",
                      5),
            "1...");
  EXPECT_EQ(CleanLine("abcdef", 2), "..");
}

TEST(Beginning, IsCutOnACharacterBorder) {
  EXPECT_EQ(Beginning("abc", 5), "abc");
  EXPECT_EQ(Beginning("abcdef", 3), "abc");
  EXPECT_EQ(Beginning("ab\xE2\x82\xAC", 4), "ab");
}

TEST(HeadAndTail, SaysHowMuchIsLeftOut) {
  EXPECT_EQ(HeadAndTail("abcdef", 3, 3), "abcdef");
  EXPECT_EQ(HeadAndTail("abcdefghij", 3, 2), "abc\n... 5 bytes left out ...\nij");
  EXPECT_EQ(HeadAndTail("a\xE2\x82\xAC"
                        "bcde",
                        2, 1),
            "a\n... 6 bytes left out ...\ne");
  EXPECT_EQ(HeadAndTail("abc", std::numeric_limits<size_t>::max(), 5), "abc");
}

TEST(Utf8, KnowsTheEdges) {
  for (const char* good : {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsValidUtf8(good)) << CleanText(good);
  }
  for (const char* bad : {"\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "a\xE2\x82z"}) {
    EXPECT_FALSE(IsValidUtf8(bad));
  }
}

TEST(GlobMatch, StarsAndQuestionMarks) {
  EXPECT_TRUE(GlobMatch("*", ""));
  EXPECT_TRUE(GlobMatch("conv.*dtype=bfloat16*", "conv.forward[algo=gemm,dtype=bfloat16,shape=a]"));
  EXPECT_TRUE(GlobMatch("a?c", "abc"));
  EXPECT_TRUE(GlobMatch("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(GlobMatch("a?c", "ac"));
  EXPECT_FALSE(GlobMatch("*a*b", "ba"));
  EXPECT_TRUE(GlobMatch("[a]", "[a]"));
  EXPECT_FALSE(GlobMatch("[a]", "a"));
  const std::string many(2000, 'a');
  EXPECT_FALSE(GlobMatch("*a*a*a*a*a*a*a*a*b", many));
}

TEST(FilterMatch, IsGoogleTestsSyntax) {
  EXPECT_TRUE(FilterMatch("a.*:b.*", "b.x"));
  EXPECT_FALSE(FilterMatch("a.*:b.*", "c.x"));
  EXPECT_FALSE(FilterMatch("a.*-a.x:a.y", "a.y"));
  EXPECT_TRUE(FilterMatch("a.*-a.x:a.y", "a.z"));
  EXPECT_TRUE(FilterMatch("-a.*", "b"));
  EXPECT_FALSE(FilterMatch("-a.*", "a.b"));
}

TEST(DidYouMean, FindsSlipsOnly) {
  const std::vector<std::string> known = {"pad", "stride", "dilation", "float32", "float16"};
  EXPECT_EQ(DidYouMean("stirde", known), "stride");
  EXPECT_EQ(DidYouMean("Stride", known), "stride");
  EXPECT_EQ(DidYouMean("float31", known), "float32");
  EXPECT_EQ(DidYouMean("gpu", known), "");
  EXPECT_EQ(DidYouMean("", known), "");
}

TEST(Sha256, KnownVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// What takes the processor's own instructions gives what every processor gives.
TEST(Sha256, IsTheSameOnEveryProcessor) {
  const Sha256Blocks accelerated = Sha256BlocksAccelerated();
  if (accelerated == nullptr) GTEST_SKIP() << "this processor has no instructions for SHA-256";
  std::mt19937 random(7);
  for (size_t blocks = 0; blocks < 20; ++blocks) {
    std::vector<unsigned char> data(64 * blocks);
    for (unsigned char& byte : data) byte = static_cast<unsigned char>(random());
    Sha256State one{}, other{};
    for (size_t i = 0; i < one.size(); ++i) one[i] = other[i] = static_cast<uint32_t>(random());
    Sha256BlocksAnywhere(data.data(), blocks, &one);
    accelerated(data.data(), blocks, &other);
    EXPECT_EQ(one, other) << blocks;
  }
}

TEST(Sha256, ThatEveryProcessorCanComputeIsRight) {
  unsigned char block[64] = {'a', 'b', 'c', 0x80};
  block[63] = 24;  // bits
  Sha256State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  Sha256BlocksAnywhere(block, 1, &state);
  EXPECT_EQ(state[0], 0xba7816bfu);
  EXPECT_EQ(state[7], 0xf20015adu);
}

TEST(Sha256, TakesItsTextInPieces) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i);
  for (const size_t piece : {1u, 7u, 63u, 64u, 65u, 127u, 299u}) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece) hash.Update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(hash.Hex(), Sha256Hex(text)) << piece;
  }
}

TEST(Fnv1a, KnownVectors) {
  EXPECT_EQ(Fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(Fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(Fnv1a("foobar"), 0x85944171f73967e8u);
}

TEST(FixedSeconds, NeverNegativeNeverNaN) {
  EXPECT_EQ(FixedSeconds(1.2345), "1.234");
  EXPECT_EQ(FixedSeconds(1234567.5), "1234567.500");
  EXPECT_EQ(FixedSeconds(-1), "0.000");
  EXPECT_EQ(FixedSeconds(std::numeric_limits<double>::quiet_NaN()), "0.000");
  EXPECT_EQ(FixedSeconds(std::numeric_limits<double>::infinity()), "0.000");
}

TEST(ShellQuote, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(ShellQuote("matrices/cu12.json"), "matrices/cu12.json");
  EXPECT_EQ(ShellQuote("conv.forward[a=b]"), "'conv.forward[a=b]'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote(""), "''");
}

TEST(SplitJoinTrim, KeepEmptyParts) {
  EXPECT_EQ(Split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Join(Split("a,,b", ','), ","), "a,,b");
  EXPECT_EQ(Trim("\t a b \n"), "a b");
}

TEST(Time, HasTheFormsThatReportsPromise) {
  EXPECT_TRUE(GlobMatch("20*-*-*T*:*:*Z", UtcTimestamp())) << UtcTimestamp();
  EXPECT_TRUE(GlobMatch("20*-*-*", UtcDate()));
  const int64_t before = MonotonicNs();
  EXPECT_LE(before, MonotonicNs());
}

TEST(JsonNesting, CountsWhatIsOpenOutsideOfStrings) {
  EXPECT_EQ(JsonNesting(""), 0u);
  EXPECT_EQ(JsonNesting(R"({"a": [[1], {"b": 2}], "c": [3]})"), 3u);
  EXPECT_EQ(JsonNesting(R"({"a": "[[[[", "b\\": "\"[[[", "c": "\\\\"})"), 1u);
  EXPECT_EQ(JsonNesting(std::string(100'000, '[')), 100'000u);
}

}  // namespace
}  // namespace cudnn_ci
