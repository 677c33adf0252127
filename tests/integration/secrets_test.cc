// Secrets planted in the environment, in arguments, in what checks say and in names of files are in nothing
// that a run leaves or prints.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Planted : public testing::Test {
 protected:
  Planted() {
    run_.Set("PLANTED_TOKEN", "planted-in-the-environment");
    run_.Set("Deploy_Password", "planted-in-an-argument");
    run_.Set("SESSION_KEY", "planted-in-a-name");
    run_.Matrix(Entry("fixture.tells") + ", " + Entry("fixture.pass"));
    run_.Write("image.json", R"([{"Config": {"Env": []}}])");
    run_.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_told");
    run_.Set("FIXTURE_FACTS", "env.PLANTED_TOKEN=planted-in-the-environment");
  }
  // Every file below the folder, as (name, content).
  std::vector<std::pair<std::string, std::string>> Files(const std::string& folder) const {
    std::vector<std::pair<std::string, std::string>> files;
    for (const auto& entry : fs::recursive_directory_iterator(run_.Path(folder))) {
      std::string content;
      if (entry.is_regular_file()) {
        std::ifstream file(entry.path(), std::ios::binary);
        content.assign(std::istreambuf_iterator<char>(file), {});
      }
      files.emplace_back(entry.path().filename().string(), content);
    }
    return files;
  }
  static void ExpectNone(const std::string& text, const std::string& where) {
    EXPECT_EQ(text.find("planted-in"), std::string::npos)
        << where << ": ..." << text.substr(std::min(text.size(), text.find("planted-in")), 80);
  }
  GateRun run_;
};

TEST_F(Planted, NoArtefactHoldsASecret) {
  const std::string folder = "reports-planted-in-a-name";
  const GateResult result =
      run_.Command({"--matrix", "matrix.json", "--output-dir", folder, "--image-config", "image.json",
                    "--verbose", "--subject-image", "team/image@sha256:" + std::string(64, 'a'), "--filter",
                    "fixture.*:planted-in-an-argument"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  ExpectNone(result.out, "stdout");
  ExpectNone(result.err, "stderr");
  const auto files = Files(folder);
  EXPECT_GE(files.size(), 6u) << "reports, a folder and an attachment";
  size_t masked = 0;
  for (const auto& [name, content] : files) {
    ExpectNone(name, "the name of a file");
    ExpectNone(content, name);
    masked += content.find("[masked PLANTED_TOKEN]") != std::string::npos ? 1 : 0;
    if (name.find(".txt") != std::string::npos) {
      EXPECT_EQ(content, "before ************************** behind\n");
    }
  }
  EXPECT_GE(masked, 4u) << "journal, junit.xml, report.json and report.html say that there was something";
  const json report = json::parse(run_.Read(folder + "/report.json"));
  EXPECT_THAT(report["root_cause"]["reproduce"].get<std::string>(),
              HasSubstr("--filter 'fixture.*:'\"$Deploy_Password\""));
  const std::string outside = report["root_cause"]["reproduce_in_container"];
  EXPECT_THAT(outside, HasSubstr(" -e PLANTED_TOKEN=\"$PLANTED_TOKEN\""));
  EXPECT_THAT(outside, HasSubstr("--filter 'fixture.*:'\"$Deploy_Password\""));
  EXPECT_EQ(report["facts"]["system"]["env.PLANTED_TOKEN"], "[masked PLANTED_TOKEN]");
}

TEST_F(Planted, WhatIsMadeAgainHoldsNoneEither) {
  EXPECT_EQ(run_.Run().exit_code, 1);
  run_.Set("PLANTED_TOKEN", "another");  // what a job behind it knows nothing of
  run_.Command({"report", "report/journal.jsonl", "--output-dir", "again"});
  for (const auto& [name, content] : Files("again")) ExpectNone(content, name);
}

TEST_F(Planted, NeitherDoCommandsNorComplaints) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"facts", "--json"},
        {"facts", "--all"},
        {"--device", "planted-in-an-argument"},
        {"--matrix", "planted-in-an-argument.json"},
        {"--planted-in-an-argument"},
        {"report", "planted-in-an-argument.jsonl"},
        {"compare", "planted-in-an-argument", "planted-in-a-name"},
        {"--matrix", "matrix.json", "--case", "planted-in-an-argument"}}) {
    const GateResult result = run_.Command(words);
    ExpectNone(result.out, words[0] + ", stdout");
    ExpectNone(result.err, words[0] + ", stderr");
    EXPECT_NE(result.out + result.err, "") << words[0];
  }
  EXPECT_THAT(run_.Command({"facts", "--all"}).out, HasSubstr("[masked PLANTED_TOKEN]"));
}

// In a finished document a quote is escaped, and the value would not be found.
TEST_F(Planted, FactsAreMaskedAsTheyWereSaid) {
  run_.Set("QUOTED_TOKEN", R"(say"planted-in"and\more)");
  run_.Set("FIXTURE_FACTS", R"(env.QUOTED_TOKEN=say"planted-in"and\more)");
  const GateResult result = run_.Command({"facts", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ExpectNone(result.out, "stdout");
  EXPECT_THAT(result.out, HasSubstr("[masked QUOTED_TOKEN]"));
  EXPECT_EQ(json::parse(result.out)["schema"], "cudnn-ci/facts/1");
}

// The last 8 KiB of a command's output are shown, and 256 KiB of what is longer are kept.
TEST_F(Planted, NoRestOfOneIsLeftWhereOutputWasCut) {
  const std::string value = "0qzx1wvk2jhp3rtb4mnd5sgf6lcw7xkq8vzj9pb", part = value.substr(3, 17);
  run_.Set("LONG_TOKEN", value);
  run_.Set("PART_TOKEN", part);
  run_.Write("cut.sh",
             "fill() { head -c \"$1\" /dev/zero | tr '\\0' y; }\n"
             "fill $1; eval \"printf %s \\$$2\"; fill $3; exit 1\n");
  std::string entries;
  const auto print = [&](size_t before, const std::string& secret, size_t behind) {
    const std::string number = std::to_string(entries.size());
    entries += (entries.empty() ? "" : ", ") +
               Entry("exec.run", "\"name\": \"c" + number + R"(", "params": {"argv": ["sh", ")" +
                                     run_.Path("cut.sh") + "\", \"" + std::to_string(before) + "\", \"" +
                                     secret + "\", \"" + std::to_string(behind) + "\"]}");
  };
  constexpr size_t kShown = 8 << 10, kKept = 192 << 10;
  for (size_t inside = 0; inside <= value.size(); inside += 3) print(0, "LONG_TOKEN", kShown - inside);
  for (size_t inside = 0; inside <= part.size(); inside += 3) print(9, "PART_TOKEN", kShown - inside);
  print(100'000, "LONG_TOKEN", kKept - 20);  // one line, which is cut twice
  run_.Matrix(entries);
  fs::create_directory(run_.Path("exec"));
  for (const std::string plugin : {"exec.cci.so", "driver.cci.so"})
    fs::create_symlink(CUDNN_CI_STAGE_PLUGINS "/" + plugin, run_.Path("exec/" + plugin));
  run_.AddPlugins(run_.Path("exec"));
  const GateResult result = run_.Command({"--matrix", "matrix.json", "--output-dir", "report"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const auto expect_none = [&](const std::string& text, const std::string& where) {
    for (size_t at = 0; at + 6 <= value.size(); ++at)
      EXPECT_EQ(text.find(value.substr(at, 6)), std::string::npos) << where << ": " << value.substr(at, 6);
  };
  expect_none(result.out, "stdout");
  for (const auto& [name, content] : Files("report")) expect_none(content, name);
  EXPECT_NE(run_.Read("report/journal.jsonl").find("yyyyyyyy"), std::string::npos) << "nothing was printed";
}

// What is to be typed again stays, and a document stays one.
TEST_F(Planted, WhatAListNamesIsNotMasked) {
  run_.Set("LIST_KEY", "fixture.pass");
  run_.Set("SCHEMA_KEY", "cudnn-ci/list/1");
  EXPECT_THAT(run_.Command({"list", "--matrix", "matrix.json"}).out, HasSubstr("fixture.pass[i=0]"));
  const json list = json::parse(run_.Command({"list", "--matrix", "matrix.json", "--json"}).out);
  EXPECT_EQ(list["schema"], "cudnn-ci/list/1");
  EXPECT_THAT(list["cases"].dump(), HasSubstr("fixture.pass[i=0]"));
}

}  // namespace
}  // namespace cudnn_ci
