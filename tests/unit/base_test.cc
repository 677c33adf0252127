// The base layer: text cleaning and cutting, patterns, hashes, files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <random>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"
#include "scratch.h"

namespace {
int g_syncs = 0;       // calls of fsync
int g_sync_error = 0;  // what they fail with
}  // namespace

// In the place of libc's, so that what is flushed, and a disk that cannot, shows.
extern "C" int fsync(int) {
  ++g_syncs;
  errno = g_sync_error;
  return g_sync_error == 0 ? 0 : -1;
}

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

TEST(ReadFile, TakesRegularFilesWithinTheBound) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "12345");
  ASSERT_TRUE(ReadFile(path, 5).ok());
  EXPECT_EQ(*ReadFile(path, 5), "12345");
  EXPECT_EQ(ReadFile(path, 4).error(), path + ": is larger than the limit of 4 bytes");
  EXPECT_EQ(ReadFile(scratch.path(), 4).error(), scratch.path() + ": is a directory, not a file");
  EXPECT_EQ(ReadFile(scratch.File("none"), 4).error(), scratch.File("none") + ": No such file or directory");
  ASSERT_EQ(mkfifo(scratch.File("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(scratch.File("fifo"), 4).error(), scratch.File("fifo") + ": is not a regular file");
}

TEST(ReadFile, AReadThatFailsIsNoEndOfFile) {
  // Nothing is mapped at address 0, where this file begins.
  EXPECT_EQ(ReadFile("/proc/self/mem", 100).error(), "/proc/self/mem: Input/output error");
  EXPECT_EQ(ReadSmallFile("/proc/self/mem"), "");
}

TEST(ReadSmallFile, StopsAtTheBoundAndForgivesWhatIsNotThere) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "12345");
  EXPECT_EQ(ReadSmallFile(path), "12345");
  EXPECT_EQ(ReadSmallFile(path, 3), "123");
  EXPECT_EQ(ReadSmallFile(scratch.File("none")), "");
}

TEST(WriteAll, WaitsForAReaderOfANonBlockingPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  Fd reading(ends[0]), writing(ends[1]);
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  size_t received = 0;
  std::thread reader([&] {
    char buffer[4096];
    while (received < text.size()) {
      const ssize_t got = read(reading.get(), buffer, sizeof buffer);
      if (got > 0) received += static_cast<size_t>(got);
      if (got < 0) usleep(1000);
    }
  });
  EXPECT_TRUE(WriteAll(writing.get(), text, "the pipe").ok());
  reader.join();
  EXPECT_EQ(received, text.size());
}

TEST(WriteAll, NamesWhatCouldNotBeWritten) {
  Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  EXPECT_EQ(WriteAll(full.get(), "x", "the report").error(),
            "cannot write the report: No space left on device");
  EXPECT_TRUE(WriteAll(full.get(), "", "the report").ok());
}

TEST(AtomicFile, AppearsWhenItIsCommitted) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  {
    AtomicFile file(path);
    ASSERT_TRUE(file.Append("ne").ok());
    ASSERT_TRUE(file.Append("w").ok());
    EXPECT_EQ(*ReadFile(path, 10), "old");
    ASSERT_TRUE(file.Commit().ok());
  }
  EXPECT_EQ(*ReadFile(path, 10), "new");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(AtomicFile, LeavesNothingWhenItIsGivenUp) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  {
    AtomicFile file(path);
    ASSERT_TRUE(file.Append("new").ok());
  }
  EXPECT_EQ(*ReadFile(path, 10), "old");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(AtomicFile, TwoOfOnePathDoNotMix) {
  const Scratch scratch;
  AtomicFile first(scratch.File("a")), second(scratch.File("a"));
  ASSERT_TRUE(first.Append("first").ok());
  ASSERT_TRUE(second.Append("second").ok());
  ASSERT_TRUE(second.Commit().ok());
  ASSERT_TRUE(first.Commit().ok());
  EXPECT_EQ(*ReadFile(scratch.File("a"), 10), "first");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(AtomicFile, AnErrorStays) {
  AtomicFile file("/no/such/folder/a");
  const std::string error = "cannot write /no/such/folder/a: No such file or directory";
  EXPECT_EQ(file.Append("x").error(), error);
  EXPECT_EQ(file.Commit().error(), error);
}

TEST(WriteFileAtomically, DoesNotWriteIntoTheFileThatIsThere) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  ASSERT_EQ(link(path.c_str(), scratch.File("reader").c_str()), 0);  // as a reader that has it open
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(*ReadFile(path, 100), "new");
  EXPECT_EQ(*ReadFile(scratch.File("reader"), 100), "old");
}

TEST(WriteFileAtomically, ADurableFileReachesTheDiskWithItsName) {
  const Scratch scratch;
  g_syncs = 0;
  ASSERT_TRUE(WriteFileAtomically(scratch.File("a"), "x").ok());
  EXPECT_EQ(g_syncs, 0);
  ASSERT_TRUE(WriteFileAtomically(scratch.File("a"), "y", true).ok());
  EXPECT_EQ(g_syncs, 2) << "the file and its directory";
}

TEST(WriteFileAtomically, ADiskThatCannotKeepTheFileIsAnError) {
  const Scratch scratch;
  scratch.Write("a", "old");
  g_sync_error = EIO;
  const Status status = WriteFileAtomically(scratch.File("a"), "new", true);
  g_sync_error = 0;
  EXPECT_EQ(status.error(), "cannot write " + scratch.File("a") + ": Input/output error");
  EXPECT_EQ(*ReadFile(scratch.File("a"), 100), "old");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(WriteFileAtomically, ReplacesAndLeavesNothingElse) {
  const Scratch scratch;
  const std::string path = scratch.Write("a", "old");
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "newer", true).ok());
  EXPECT_EQ(*ReadFile(path, 100), "newer");
  EXPECT_EQ(scratch.Entries(), 1u);
}

TEST(WriteFileAtomically, AFailureLeavesNothingBehind) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.File("target"));
  scratch.Write("target/inside", "x");  // a file cannot take the place of a folder
  const Status status = WriteFileAtomically(scratch.File("target"), "new");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().rfind("cannot write " + scratch.File("target") + ": ", 0), 0u) << status.error();
  EXPECT_EQ(scratch.Entries(), 1u);
  EXPECT_EQ(*ReadFile(scratch.File("target/inside"), 10), "x");
  EXPECT_FALSE(WriteFileAtomically(scratch.File("no/such/folder"), "new").ok());
}

TEST(MakeDirectories, MakesParentsAndSaysWhyNot) {
  const Scratch scratch;
  ASSERT_TRUE(MakeDirectories(scratch.File("a/b/c")).ok());
  ASSERT_TRUE(MakeDirectories(scratch.File("a/b/c")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(scratch.File("a/b/c")));
  scratch.Write("file", "");
  EXPECT_FALSE(MakeDirectories(scratch.File("file")).ok());
}

TEST(ExecutableDirectory, IsWhereThisTestLies) {
  EXPECT_TRUE(std::filesystem::exists(ExecutableDirectory() + "/base_test")) << ExecutableDirectory();
}

}  // namespace
}  // namespace cudnn_ci
