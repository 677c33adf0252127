// What must not be printed: by the names of variables, by the shape of a token, and where a text was cut.
#include "base/secrets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "base/text.h"

namespace cudnn_ci {
namespace {

const char* const kEnvironment[] = {"API_TOKEN=correct horse battery",
                                    "db_password=it's $a \"value\"",
                                    "SHORT_KEY=default",
                                    "MULTI_SECRET=first long line\nsecond long line\nshort",
                                    "HOME=/home/somebody-here",
                                    "NOT_AN_ENTRY",
                                    "EMPTY_TOKEN=",
                                    nullptr};

std::string Masked(std::string_view text) { return Secrets(kEnvironment).Mask(text); }

TEST(SecretNames, AreTold) {
  for (const char* name :
       {"CI_JOB_TOKEN", "npm_config_token", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "Ssh_Key"})
    EXPECT_TRUE(IsSecretName(name)) << name;
  for (const char* name : {"HOME", "CUDA_VERSION", "LD_LIBRARY_PATH", ""})
    EXPECT_FALSE(IsSecretName(name)) << name;
}

TEST(Secrets, ValuesOfSecretVariablesAreMaskedByName) {
  EXPECT_EQ(Masked("say correct horse battery twice: correct horse battery"),
            "say [masked API_TOKEN] twice: [masked API_TOKEN]");
  EXPECT_EQ(Masked("x it's $a \"value\" y"), "x [masked db_password] y");
  EXPECT_EQ(Masked("default /home/somebody-here"), "default /home/somebody-here");
  EXPECT_EQ(Masked("a second long line alone, short"), "a [masked MULTI_SECRET] alone, short");
  EXPECT_EQ(Masked("first long line\nsecond long line\nshort"), "[masked MULTI_SECRET]");
  EXPECT_EQ(Masked(Masked("correct horse battery")), "[masked API_TOKEN]");
  EXPECT_EQ(Masked(""), "");
  EXPECT_EQ(Secrets(nullptr).Mask("correct horse battery"), "correct horse battery");
}

TEST(Secrets, TokensAreKnownByTheirShape) {
  const std::string letters(40, 'a');
  for (const std::string& token :
       {"ghp_" + letters, "github_pat_" + letters, "glpat-" + letters, "AKIA" + std::string(16, 'A'),
        "hf_" + letters, "nvapi-" + letters, "xoxb-" + letters, "npm_" + letters, "sk-" + letters,
        "eyJ" + letters + ".eyJ" + letters + "." + letters,
        "-----BEGIN RSA PRIVATE KEY-----\n" + letters + "\n-----END RSA PRIVATE KEY-----"})
    EXPECT_EQ(Masked("Bearer " + token + ";"), "Bearer [masked token];") << token;
  EXPECT_EQ(Masked("https://me:pass@example.com/x"), "https://me:[masked token]@example.com/x");
  EXPECT_EQ(Masked("-----BEGIN PRIVATE KEY-----\nabc and cut"), "[masked token]");
  EXPECT_EQ(Masked("https://me:pa@ss@example.com/x@y"), "https://me:[masked token]@example.com/x@y");
  EXPECT_EQ(Masked("https://me:pa/ss@example.com/x y@z"), "https://me:[masked token]@example.com/x y@z");
  EXPECT_EQ(Masked("https://me:1/a@ss@example.com"), "https://me:1/a@ss@example.com") << "a port and a path";
  EXPECT_EQ(Masked("https://" + letters + "@example.com"), "https://[masked token]@example.com");
  for (const char* head : {"glrt-", "glcbt-", "gldt-", "glptt-", "glft-"})
    EXPECT_EQ(Masked(head + letters), "[masked token]") << head;
  EXPECT_EQ(Masked("https://a.b/c?sig=" + letters), "https://a.b/c?sig=[masked token]");
  EXPECT_EQ(Masked("> Authorization: Basic Ym9iOmh1bnRlcg==\n"), "> Authorization: Basic [masked token]\n");
  EXPECT_EQ(Masked("authorization: Bearer abc.def.ghi"), "authorization: Bearer [masked token]");
  EXPECT_EQ(Masked("https://a.b/c?sv=1&sig=" + letters + "&e=2"),
            "https://a.b/c?sv=1&sig=[masked token]&e=2");
  for (const std::string plain :
       {"ghp_short", "ssh://git@example.com", "?sig=short",
        "a-word-with-sk-in-it-that-is-rather-long-but-no-token-at-all", "conv.forward[math=default]",
        "http://example.com:80/a@b", "http://[::1]:80/a@b", "file://c:/a@b", "eyJ.eyJ",
        "sm_90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc"})
    EXPECT_EQ(Masked(plain), plain);
}

TEST(Secrets, WhatIsLeftOfACutValueIsMaskedToo) {
  EXPECT_EQ(Masked("output: correct hor..."), "output: [masked]...");
  const std::string text = "head correct horse battery tail";
  for (size_t head = 9; head < 26; ++head) {
    const std::string cut = HeadAndTail(text + std::string(100, '.') + text, head, 14);
    EXPECT_EQ(Masked(cut).find("correct h"), std::string::npos) << Masked(cut);
    EXPECT_EQ(Masked(cut).find("attery"), std::string::npos) << Masked(cut);
  }
  EXPECT_EQ(Masked("a correct ho\n[... 20 bytes left out ...]\nattery b"),
            "a [masked]\n[... 20 bytes left out ...]\n[masked] b");
}

// CleanLine's text may be a part of a longer one.
TEST(Secrets, WhatIsLeftBeforeDotsInsideATextIsMaskedToo) {
  EXPECT_EQ(Masked("line 'correct hor...'; more..."), "line '[masked]...'; more...");
  EXPECT_EQ(Masked(std::string(300, '.') + "correct hor... b").find("correct"), std::string::npos);
}

TEST(Secrets, PlacesInAFileStay) {
  const std::string text = "a correct horse battery b";
  const std::string masked = Secrets(kEnvironment).MaskKeepingLength(text);
  EXPECT_EQ(masked, "a ********************* b");
}

TEST(Secrets, AWordForAShellNamesTheVariable) {
  const Secrets secrets(kEnvironment);
  EXPECT_EQ(secrets.ShellWord("--name=correct horse battery"), "--name=\"$API_TOKEN\"");
  EXPECT_EQ(secrets.ShellWord("a b correct horse battery c"), "'a b '\"$API_TOKEN\"' c'");
  EXPECT_EQ(secrets.ShellWord("plain"), "plain");
  const char* const overlapping[] = {"A_KEY=first-second", "B_KEY=second-third", nullptr};
  EXPECT_EQ(Secrets(overlapping).ShellWord("x=first-second-third"), "x='[masked]'");
  EXPECT_EQ(Secrets(overlapping).Mask("x=first-second-third"), "x=[masked]");
  EXPECT_EQ(secrets.ShellWord(""), "''");
  EXPECT_EQ(secrets.ShellWord("ghp_" + std::string(36, 'a')), "'[masked token]'");
  const char* const odd[] = {"odd-key=correct horse battery", nullptr};
  EXPECT_EQ(Secrets(odd).ShellWord("correct horse battery"), "'[masked token]'") << "no shell knows $odd-key";
}

// A variable that holds its own name, or that of another.
TEST(Secrets, WhatIsMaskedIsNotMaskedAgain) {
  const char* const environment[] = {"SECRET_KEY=SECRET_KEY", "OTHER_KEY=masked SECRET_KEY", nullptr};
  const Secrets secrets(environment);
  const std::string once = secrets.Mask("SECRET_KEY and SECRET_KEY");
  EXPECT_EQ(once, "[masked SECRET_KEY] and [masked SECRET_KEY]");
  EXPECT_EQ(secrets.Mask(once), once);
  EXPECT_EQ(secrets.Mask("[masked by SECRET_KEY]"), "[masked by [masked SECRET_KEY]]") << "no mark of ours";
}

// A check may hand over megabytes that are made for this. If each beginning read the rest, this test would
// take hours.
TEST(Secrets, HostileTextsAreGoneThroughAFewTimes) {
  const Secrets secrets(kEnvironment);
  for (const std::string part :
       {"eyJ", "eyJ.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "://", " bytes left out ...\n",
        "... 1 bytes left out ...\n", "ghp_", "correct ", "[masked correct horse battery"}) {
    std::string text;
    while (text.size() < size_t{4} << 20) text += part;
    EXPECT_LE(secrets.Mask(text).size(), text.size()) << part;
  }
}

std::string Repeated(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

// Of processor time, the least of three: what else runs here does not count.
double SecondsToMask(const Secrets& secrets, const std::string& text) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    EXPECT_LE(secrets.MaskKeepingLength(text).size(), text.size());
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

// As many times a plain text's time as these made of beginnings may take: before the work was bounded for
// each byte they took 300 and more.
TEST(Secrets, NoTextTakesManyTimesAPlainOnesWork) {
  const Secrets secrets(kEnvironment);
  constexpr size_t kBytes = 1 << 20;
  const double plain = SecondsToMask(secrets, Repeated("some words of a plain text, ", kBytes));
  for (const std::string part : {"://a:b", "://a:1", "://a", "://:", "://[a:b", "&sig=", "eyJ.eyJ", "..."})
    EXPECT_LE(SecondsToMask(secrets, Repeated(part, kBytes)), 40 * plain + 0.01) << part;
  const std::string host = "@" + std::string(10, 'h');
  EXPECT_LE(SecondsToMask(secrets, Repeated(Repeated("://a:b", 4000) + host, kBytes)), 40 * plain + 0.01);
}

// A certificate's chain, say: its number of lines counts by its logarithm.
TEST(Secrets, ASecretOfThousandsOfLinesCostsLittleMoreThanOne) {
  std::string value = "CHAIN_KEY=";
  for (int i = 0; i < 12000; ++i) value += "line" + std::to_string(1000000 + i * 7) + "\n";
  const char* const many[] = {value.c_str(), nullptr};
  const Secrets of_many(many), of_few(kEnvironment);
  const std::string text = Repeated("some words of a plain line1000 text ...", 1 << 19);
  EXPECT_LE(SecondsToMask(of_many, text), 20 * SecondsToMask(of_few, text) + 0.01);
  EXPECT_EQ(of_many.Mask("a line1000007 b"), "a [masked CHAIN_KEY] b");
  EXPECT_EQ(of_many.Mask("a line1083993 b line10839"), "a [masked CHAIN_KEY] b line10839");
  EXPECT_EQ(of_many.Mask("a line10839..."), "a [masked]...");
}

// What repeats itself is found wherever it stands, as by a search at each place.
TEST(Secrets, ThatRepeatThemselvesAreMaskedWhole) {
  const std::string half(4000, 'a'), value = half + "b" + half;
  const std::string entry = "LONG_KEY=" + value;
  const char* const environment[] = {entry.c_str(), "AB_KEY=abababab", nullptr};
  const Secrets secrets(environment);
  EXPECT_EQ(secrets.Mask(half + value + half), half + "[masked LONG_KEY]" + half);
  EXPECT_EQ(secrets.Mask("xabababababx"), "x[masked]x") << "two that overlap";
  EXPECT_EQ(secrets.Mask("x" + half + "..."), "x[masked]...");
  EXPECT_EQ(secrets.Mask("x\n[... 20 bytes left out ...]\nb" + half + "x"),
            "x\n[... 20 bytes left out ...]\n[masked]x");
}

// Values that begin others, overlap others, and are the ends of others.
TEST(Secrets, TheLongestOfSeveralIsMasked) {
  const char* const environment[] = {"A_KEY=abcdefgh", "B_KEY=abcdefghijkl", "C_KEY=ijklmnop",
                                     "D_KEY=abcdefghiz", nullptr};
  const Secrets secrets(environment);
  EXPECT_EQ(secrets.Mask("abcdefgh-"), "[masked A_KEY]-");
  EXPECT_EQ(secrets.Mask("abcdefghij-"), "[masked A_KEY]ij-") << "a longer one that does not go on so";
  EXPECT_EQ(secrets.Mask("abcdefghijkl-"), "[masked B_KEY]-");
  EXPECT_EQ(secrets.Mask("abcdefghijklmnop-"), "[masked]-") << "two that overlap are one";
  EXPECT_EQ(secrets.Mask("abcdefghizz"), "[masked D_KEY]z");
  EXPECT_EQ(secrets.Mask("...klmnop"), "...[masked]");
}

}  // namespace
}  // namespace cudnn_ci
