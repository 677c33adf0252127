// Which image was judged, who set what its processes saw, and how the run is repeated from outside.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kImage = "registry.example.com/team/train@sha256:" + std::string(64, 'a');

// The words a shell makes of a command line that calls docker.
std::vector<std::string> ShellWords(const GateRun& run, const std::string& command) {
  run.Write("command.sh",
            "docker() { printf '%s\\n' docker \"$@\"; }\ncd " + run.folder() + "\n" + command + "\n");
  std::string text;
  FILE* const pipe = popen(("sh " + run.Path("command.sh")).c_str(), "r");
  for (int c; pipe && (c = fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(pipe ? pclose(pipe) : -1, 0);
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) words.push_back(line);
  return words;
}

// One GPU, a check that crashes, and variables of every origin.
class Identity : public testing::Test {
 protected:
  Identity() {
    run_.UseFakeGpus(1);
    run_.Matrix(Entry("fixture.crash", R"("params": {"how": "segv"})"));
    run_.Write("image.json",
               R"([{"Config": {"Env": ["CUDA_VERSION=12.4", "NV_CUDNN_VERSION=8", "PRIVATE=of the image",
                                                     "PATH=/bin"]}}])");
    run_.Set("CUDA_VERSION", "12.4");
    run_.Set("NV_CUDNN_VERSION", "9");
    run_.Set("NVIDIA_REQUIRE_CUDA", "it's $HOME");
    run_.Set("NVIDIA_VISIBLE_DEVICES", "GPU-1");
    run_.Set("PRIVATE", "of the runner");
  }
  GateRun run_;
};

TEST_F(Identity, IsInEveryReport) {
  const GateResult result = run_.Run({"--subject-image", kImage, "--image-config", "image.json"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_EQ(result.report["judged"]["image"], kImage);
  const json expected = {{"CUDA_VERSION", "image"},
                         {"LD_LIBRARY_PATH", "runner"},
                         {"NVIDIA_REQUIRE_CUDA", "runner"},
                         {"NVIDIA_VISIBLE_DEVICES", "runner"},
                         {"NV_CUDNN_VERSION", "runner, over the image's"}};
  EXPECT_EQ(result.report["environment"], expected);
  const json started = result.Events("RunStarted").at(0);
  EXPECT_EQ(started["image"], kImage);
  EXPECT_EQ(started["environment"], expected);
  EXPECT_THAT(result.junit, HasSubstr("<property name=\"judged.image\" value=\"" + kImage + "\"/>"));
  EXPECT_THAT(result.junit, HasSubstr("<property name=\"environment.CUDA_VERSION\" value=\"image\"/>"));
  EXPECT_THAT(result.out, HasSubstr("  image       " + kImage + "\n"));
  EXPECT_THAT(result.out,
              testing::ContainsRegex(
                  "\n  environment image: CUDA_VERSION\n"
                  "              runner: LD_LIBRARY_PATH, NVIDIA_REQUIRE_CUDA, NVIDIA_VISIBLE_DEVICES\n"
                  "              runner, [a-z ']*: NV_CUDNN_VERSION\n"));
  EXPECT_EQ(std::system(("python3 -B '" CUDNN_CI_SOURCE_DIR
                         "/tests/integration/reports.py' validate '" CUDNN_CI_SOURCE_DIR
                         "/harness/report/schemas' " +
                         run_.Path("report"))
                            .c_str()),
            0);
  // What no plugin asks for is recorded nowhere.
  for (const std::string& text :
       {result.junit, result.report.dump(), json(result.journal).dump(), result.out})
    EXPECT_THAT(text, Not(HasSubstr("PRIVATE")));
}

// A plugin that only tells that a variable is set has not asked for its value.
TEST_F(Identity, AValueThatNoFactTellsIsInNoReport) {
  run_.AddPlugins(CUDNN_CI_FIXTURES "/broken/facts_told");
  run_.Set("FIXTURE_FACTS", "env.PRIVATE=set");
  const GateResult result = run_.Run({"--subject-image", kImage, "--image-config", "image.json"});
  EXPECT_EQ(result.report["environment"]["PRIVATE"], "runner, over the image's") << result.out;
  EXPECT_TRUE(result.report["run"]["container_command"].is_string());
  for (const std::string& text :
       {result.junit, result.report.dump(), json(result.journal).dump(), result.out})
    EXPECT_THAT(text, Not(HasSubstr("of the runner")));
}

// What a launcher outside says of itself takes the place of what only the container knows.
TEST_F(Identity, ALauncherIsRepeatedFromOutside) {
  const std::string line = "bin/cudnn-ci-run --no-gpu 'it'\\''s' --";
  const GateResult result =
      run_.Run({"--subject-image", kImage, "--reproduce-with", line, "--reports-at=/out side"});
  const std::string command = line + " --case 'fixture.crash[how=segv]'";
  EXPECT_EQ(result.report["root_cause"]["reproduce"], command);
  EXPECT_TRUE(result.report["root_cause"]["reproduce_in_container"].is_null());
  EXPECT_EQ(result.report["cases"][0]["reproduce"], command);
  EXPECT_EQ(result.report["run"]["container_command"], line);
  const std::string typed = result.report["run"]["command_line"];
  EXPECT_THAT(typed, HasSubstr(kImage));
  EXPECT_THAT(typed, Not(HasSubstr("--reproduce-with")));
  EXPECT_THAT(typed, Not(HasSubstr("out side")));
  for (const std::string& text : {result.out, result.junit}) {
    EXPECT_THAT(text, HasSubstr("/out side/junit.xml"));
    EXPECT_THAT(text, Not(HasSubstr("with docker")));
  }
  EXPECT_THAT(result.out, HasSubstr("  reproduce   " + command + "\n"));
  // Another one may say it of a record again.
  run_.Command({"report", "report/journal.jsonl", "--reproduce-with", "again --", "--reports-at", "/there"});
  const json again = json::parse(run_.Read("report/report.json"));
  EXPECT_EQ(again["root_cause"]["reproduce"], "again -- --case 'fixture.crash[how=segv]'");
}

TEST_F(Identity, TheReproductionIsARunOfTheImage) {
  const GateResult result = run_.Run({"--subject-image", kImage, "--image-config", "image.json", "--json",
                                      "own.json", "--fail-fast", "--case", "fixture.crash[how=segv]"});
  const json report = json::parse(run_.Read("own.json"));
  const std::string command = report["root_cause"]["reproduce_in_container"];
  EXPECT_THAT(result.out, HasSubstr("  with docker " + command + "\n"));
  EXPECT_THAT(result.junit, HasSubstr(" docker run --rm "));
  EXPECT_EQ(report["run"]["container_command"], command);
  const std::string tree = CUDNN_CI_TREE, fixture = CUDNN_CI_FIXTURES "/fixture",
                    driver = run_.Path("driver");
  EXPECT_THAT(
      ShellWords(run_, command),
      ElementsAre("docker", "run", "--rm", "--gpus", "all", "-v", tree + ":/opt/cudnn-ci:ro", "-v",
                  fixture + ":" + fixture + ":ro", "-v", driver + ":" + driver + ":ro", "-v",
                  run_.folder() + ":" + run_.folder() + ":ro", "-w", run_.folder(), "-e",
                  "LD_LIBRARY_PATH=" CUDNN_CI_FAKES "/libcuda", "-e", "NVIDIA_REQUIRE_CUDA=it's $HOME", "-e",
                  "NV_CUDNN_VERSION=9", "--entrypoint", "/opt/cudnn-ci/bin/cudnn-ci", kImage, "--matrix",
                  "matrix.json", "--case", "fixture.crash[how=segv]", "--fail-fast", "--grace", "0.2",
                  "--subject-image", kImage, "--plugin-dir", fixture, "--plugin-dir", driver, "--output-dir",
                  "/tmp/cudnn-ci-report"));
}

TEST_F(Identity, TheCaseAtFaultIsNamedOnce) {
  const GateResult result = run_.Run({"--subject-image", kImage});
  const std::string command = result.report["root_cause"]["reproduce_in_container"];
  EXPECT_THAT(command,
              testing::EndsWith(" --output-dir /tmp/cudnn-ci-report --case 'fixture.crash[how=segv]'"));
  EXPECT_EQ(command.find("--case"), command.rfind("--case"));
  // Without the image's configuration nobody knows whose a variable is.
  EXPECT_EQ(result.report["environment"], json::object());
  EXPECT_THAT(command, Not(HasSubstr(" -e ")));
  EXPECT_THAT(result.out, Not(HasSubstr("  environment ")));
}

TEST_F(Identity, AMatrixOfAnotherFolderIsExpectedWhereTheCallerStands) {
  const std::string matrix = run_.Path("matrix.json");
  const GateResult result =
      run_.Command({"--matrix", matrix, "--subject-image", kImage, "--stage", "static", "--plugin-dir",
                    std::string(CUDNN_CI_FIXTURES) + "/fixture", "--output-dir", "report"});
  const std::string command = json::parse(run_.Read("report/report.json"))["run"]["container_command"];
  const std::vector<std::string> words = ShellWords(run_, command);
  EXPECT_THAT(words, testing::Contains(run_.folder() + ":" + run_.folder() + ":ro"));
  EXPECT_THAT(command, HasSubstr(" -v \"$PWD\":" + run_.folder() + ":ro "));
  EXPECT_THAT(words, Not(testing::Contains("-w")));
  EXPECT_THAT(words, Not(testing::Contains("--gpus"))) << "a static stage needs none";
}

TEST_F(Identity, ATableOfVersionFactsIsMountedWhereItIsNamed) {
  const std::string table = run_.Path("elsewhere/table.json");
  std::filesystem::create_directory(run_.Path("elsewhere"));
  std::filesystem::copy_file(CUDNN_CI_SOURCE_DIR "/knowledge/compatibility.json", table);
  run_.Run({"--subject-image", kImage, "--compatibility", table});
  const json report = json::parse(run_.Read("report/report.json"));
  const std::string command = report["run"]["container_command"];
  EXPECT_THAT(command, HasSubstr(" -v " + table + ":" + table + ":ro "));
  EXPECT_THAT(command, HasSubstr(" --compatibility " + table + " "));
  EXPECT_EQ(report["judged"]["compatibility"]["path"], table);
}

// What no mount of the line would hold, or no shell and engine would take as it is.
TEST_F(Identity, ACommandThatWouldFindLessIsLeftOut) {
  const auto command_of = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"--subject-image", kImage, "--stage", "static", "--output-dir", "report"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    run_.Command(all);
    return json::parse(run_.Read("report/report.json"))["run"]["container_command"];
  };
  const std::string plugins = CUDNN_CI_FIXTURES "/fixture";
  EXPECT_TRUE(command_of({"--matrix", "matrix.json", "--plugin-dir", plugins}).is_string());
  const std::filesystem::path folder = run_.folder();
  const std::string around = "../" + folder.filename().string() + "/matrix.json";
  EXPECT_TRUE(command_of({"--matrix", around, "--plugin-dir", plugins}).is_string());
  const std::string outside = folder.parent_path() / (folder.filename().string() + "-outside.json");
  std::filesystem::copy_file(run_.Path("matrix.json"), outside);
  EXPECT_TRUE(
      command_of({"--matrix", "../" + folder.filename().string() + "-outside.json", "--plugin-dir", plugins})
          .is_null());
  std::filesystem::remove(outside);
  EXPECT_TRUE(command_of({"--matrix", "matrix.json", "--plugin-dir", plugins, "--filter", "fixture.*\x01"})
                  .is_null());
}

// Half a command is another one.
TEST_F(Identity, ACommandThatWouldBeCutIsLeftOut) {
  const GateResult result =
      run_.Run({"--subject-image", kImage, "--filter", "fixture.crash*:" + std::string(3900, 'x')});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_TRUE(result.report["run"]["container_command"].is_null()) << result.err;
  EXPECT_THAT(result.out, Not(HasSubstr("with docker")));
}

TEST_F(Identity, AnUnidentifiedImageIsCalledSo) {
  const GateResult result = run_.Run();
  EXPECT_EQ(result.report["judged"]["image"], "unidentified");
  EXPECT_TRUE(result.report["run"]["container_command"].is_null());
  EXPECT_TRUE(result.report["root_cause"]["reproduce_in_container"].is_null());
  EXPECT_EQ(result.report["environment"], json::object());
  EXPECT_THAT(result.out, Not(HasSubstr("with docker")));
}

TEST_F(Identity, AReportMadeAgainSaysTheSame) {
  const GateResult result = run_.Run({"--subject-image", kImage, "--image-config", "image.json"});
  EXPECT_EQ(run_.Command({"report", "report/journal.jsonl", "--output-dir", "again"}).exit_code, 5);
  const json again = json::parse(run_.Read("again/report.json"));
  EXPECT_EQ(again["environment"], result.report["environment"]);
  EXPECT_EQ(again["root_cause"], result.report["root_cause"]);
  EXPECT_EQ(again["judged"]["image"], kImage);
}

}  // namespace
}  // namespace cudnn_ci
