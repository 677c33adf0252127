// The image's identity: what its inspector prints, and who has set which variable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/matrix/image_identity.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(ImageIdentity, IsANameWithADigest) {
  const std::string digits(64, 'a'), digest = "@sha256:" + digits;
  for (const char* name : {"team/train", "localhost:5000/a/b_c.d-e", "registry.example.com/x:1.2", "Team"})
    EXPECT_TRUE(IsImageByDigest(name + digest)) << name;
  EXPECT_TRUE(IsImageByDigest(std::string(255, 'n') + digest));
  EXPECT_FALSE(IsImageByDigest(std::string(256, 'n') + digest));
  for (const char* name : {"", "-rm", "a b", "a'b", "a\nb", "a@b", "$(a)", "\xc3\xa9"})
    EXPECT_FALSE(IsImageByDigest(name + digest)) << name;
  for (const std::string& tail :
       {std::string(), std::string(":latest"), "@sha256:" + digits.substr(1), "@sha256:" + digits + "0",
        "@sha256:" + digits.substr(1) + "A", "@sha512:" + digits, "@" + digits, digest + " "})
    EXPECT_FALSE(IsImageByDigest("team" + tail)) << tail;
}

Result<ImageConfig> ReadConfig(const std::string& text) {
  const Scratch scratch;
  return ReadImageConfig(scratch.Write("image.json", text));
}

Result<Variables> Read(const std::string& text) {
  Result<ImageConfig> config = ReadConfig(text);
  if (!config) return Error{config.error()};
  return std::move(config->variables);
}

TEST(ImageIdentity, ReadsWhatInspectorsPrint) {
  // A word without a name or a value sets nothing, and no engine minds it.
  const std::string config = R"({"Cmd": ["sh"], "Env": ["PATH=/bin", "A=b=c", "EMPTY=", "WORD", "=x", ""]})";
  const auto expected = UnorderedElementsAre(Pair("PATH", "/bin"), Pair("A", "b=c"), Pair("EMPTY", ""));
  for (const std::string& text :
       {config, R"([{"Id": "sha256:1", "Config": )" + config + "}]", R"({"Config": )" + config + "}",
        R"({"architecture": "amd64", "config": )" + config + R"(, "rootfs": {}})"}) {
    const Result<Variables> read = Read(text);
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_THAT(*read, expected) << text;
  }
}

TEST(ImageIdentity, AnImageMayHaveNoVariables) {
  for (const char* text :
       {R"({"Env": null})", R"({"Cmd": ["sh"]})", R"([{"Config": null}])", R"({"config": {}})",
        R"([{"Config": {"Healthcheck": {"Test": ["NONE"]}}}])", R"({"Config": {"Shell": ["/bin/sh"]}})",
        R"({"config": {"OnBuild": ["RUN x"]}})"}) {
    const Result<Variables> read = Read(text);
    ASSERT_TRUE(read.ok()) << text << read.error();
    EXPECT_TRUE(read->empty()) << text;
  }
}

TEST(ImageIdentity, WhatIsNoneIsSaidWithItsPlace) {
  const struct {
    const char *text, *words;
  } cases[] = {
      {"", "image.json:1:1: error: "},
      {"[]",
       "image.json:1:1: error: this describes 0 images, not one; give what `docker "
       "image inspect IMAGE` prints"},
      {"[{}, {}]", "image.json:1:1: error: this describes 2 images, not one"},
      {"null", "image.json:1:1: error: this is not an image configuration: an object is expected"},
      {"{}", "image.json:1:1: error: this is not an image configuration: it has neither"},
      {"[{}]", "image.json:1:2: error: this is not an image configuration: it has neither"},
      {"\"x\"", "image.json:1:1: error: this is not an image configuration: an object is expected"},
      {"{\"Config\": 1}",
       "image.json:1:12: error: this is not an image configuration: an object is expected"},
      {"{\"name\": 1}", "image.json:1:1: error: this is not an image configuration: it has neither"},
      {"[{\"HostConfig\": {}, \"Config\": {\"Env\": []}}]",
       "image.json:1:2: error: this describes a container"},
      {"{\"Env\": \"A=secret\"}", "image.json:1:9: error: \"Env\" must be a list;"},
      {"{\"Env\": [\"A=b\", 1]}", "image.json:1:17: error: an item of \"Env\" must be \"NAME=VALUE\";"},
  };
  for (const auto& c : cases) {
    const Result<Variables> read = Read(c.text);
    ASSERT_FALSE(read.ok()) << c.text;
    EXPECT_THAT(read.error(), HasSubstr(c.words));
    EXPECT_EQ(read.error().find("secret"), std::string::npos);
  }
  const Result<Variables> large = Read(std::string(5 << 20, ' '));
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error(), HasSubstr("image.json"));
}

TEST(ImageIdentity, ADigestThatTheInspectorListsIsTheEngines) {
  const std::string digest = "sha256:" + std::string(64, 'a'), other = "sha256:" + std::string(64, 'b');
  const auto from = [&](const std::string& digests) {
    const Result<ImageConfig> config =
        ReadConfig(R"([{"Id": ")" + digest + R"(", )" + digests + R"("Config": {"Env": []}}])");
    return config.ok() ? std::string(DigestFrom("mirror.example/x@" + digest, *config)) : config.error();
  };
  // By whatever name: a mirror's is the same image.
  EXPECT_EQ(from(R"("RepoDigests": ["team/x@)" + other + R"(", "team/x@)" + digest + R"("], )"), "engine");
  EXPECT_EQ(from(R"("RepoDigests": ["team/x@)" + other + R"("], )"), "told");
  for (const char* none :
       {"", R"("RepoDigests": [], )", R"("RepoDigests": null, )", R"("RepoDigests": [1], )"})
    EXPECT_EQ(from(none), "told") << none;
  EXPECT_EQ(DigestFrom("team/x@" + digest, ImageConfig{}), std::string("told"));
}

TEST(ImageIdentity, SaysWhoHasSetAVariable) {
  EXPECT_THAT(AttributeVariables({{"A", "1"}, {"B", "2"}, {"C", "3"}, {"D", ""}},
                                 {{"A", "1"}, {"B", "other"}, {"D", ""}, {"UNSEEN", "x"}}),
              UnorderedElementsAre(Pair("A", "image"), Pair("B", "runner, over the image's"),
                                   Pair("C", "runner"), Pair("D", "image")));
}

}  // namespace
}  // namespace cudnn_ci
