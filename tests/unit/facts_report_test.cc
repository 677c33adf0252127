// What `cudnn-ci facts` shows: the screen, whose golden files are the screens themselves, and the JSON.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "golden_file.h"
#include "golden_messages.h"
#include "report/formats/facts_json.h"
#include "report/formats/facts_screen.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kVenv[] = "/opt/venv/lib/python3.11/site-packages/nvidia/cudnn/lib";

// Two GPUs, two toolkits, a wheel's cuDNN beside the system's, and a third copy that nobody uses.
InventoryInput FullImage() {
  InventoryInput input;
  input.subjects = {{"system", "loader"}, {"opt_venv", "python:/opt/venv/bin/python", {kVenv}}};
  input.judged = {"system"};
  FactMap host = {{"driver.version", "580.159.04"},
                  {"driver.version.source", "NVML"},
                  {"driver.cuda", "13.0"},
                  {"driver.library.path", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"},
                  {"driver.module_version", "580.159.04"},
                  {"driver.nvml.path", "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.159.04"},
                  {"gpu.count", "2"},
                  {"gpu.0.uuid", "GPU-5f0c4a3e-1111-2222-3333-444455556666"},
                  {"gpu.0.name", "NVIDIA H200"},
                  {"gpu.0.compute_capability", "9.0"},
                  {"gpu.0.pci_bus_id", "0000:18:00.0"},
                  {"gpu.0.memory_bytes", "150119055360"},
                  {"gpu.0.memory_free_bytes", "149600000000"},
                  {"gpu.0.compute_mode", "default"},
                  {"gpu.1.uuid", "MIG-5f0c4a3e-1111-2222-3333-444455556667"},
                  {"gpu.1.name", "NVIDIA H200 MIG 1g.18gb"},
                  {"gpu.1.compute_capability", "9.0"},
                  {"gpu.1.compute_mode", "exclusive_process"},
                  {"env.LD_LIBRARY_PATH", "/usr/local/nvidia/lib:/usr/local/nvidia/lib64"},
                  {"env.NVIDIA_VISIBLE_DEVICES", "all"},
                  {"cudnn.copy.0.path", "/opt/old/lib/libcudnn.so.8"},
                  {"cudnn.copy.0.version", "8.9.7"},
                  {"cudnn.copy.0.origin", "conda environment"},
                  {"cudnn.copy.1.path", std::string(kVenv) + "/libcudnn.so.9"},
                  {"cudnn.copy.1.version", "9.10.2"},
                  {"cudnn.copy.1.origin", "Python package nvidia-cudnn-cu12 9.10.2.21"},
                  {"cudnn.copy.2.path", "/usr/lib/x86_64-linux-gnu/libcudnn.so.9"},
                  {"cudnn.copy.2.version", "9.14.0"},
                  {"cudnn.copy.2.origin", "loader path"}};
  FactMap system = host, venv = host;
  system.insert({{"toolkit.version", "13.0"},
                 {"toolkit.runtime.path", "/usr/local/cuda-13.0/lib64/libcudart.so.13.0.96"},
                 {"cudnn.path", "/usr/lib/x86_64-linux-gnu/libcudnn.so.9.14.0"},
                 {"cudnn.version", "9.14.0"},
                 {"cudnn.cudart", "13"}});
  venv.insert({{"toolkit.version", "12.8"},
               {"toolkit.runtime.path",
                "/opt/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12"},
               {"cudnn.path", std::string(kVenv) + "/libcudnn.so.9"},
               {"cudnn.version", "9.10.2"}});
  input.facts.by_subject = {{"system", system}, {"opt_venv", venv}};
  input.variables = {{"LD_LIBRARY_PATH", host["env.LD_LIBRARY_PATH"]}};
  input.toolkits = {{"13.0.2", "/usr/local/cuda-13.0", "toolkit", {"/usr/local/cuda-13.0/lib64"}, {}},
                    {"12.4.1", "/usr/local/cuda-12.4", "toolkit", {"/usr/local/cuda-12.4/lib64"}, {}},
                    {"12.8.90",
                     "/opt/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib",
                     "Python package nvidia-cuda-runtime-cu12 12.8.90",
                     {"/opt/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/lib"},
                     {}}};
  input.environments = {
      {"opt_venv",
       "/opt/venv/bin/python",
       "/opt/venv",
       kVenv,
       "12",
       {{"PyTorch", "torch", "2.11.0+cu128"}, {"CuPy", "cupy-cuda12x", "13.4.1"}}},
      {"", "/usr/bin/python3", "/usr", "", "", {{"ONNX Runtime", "onnxruntime-gpu", "1.22.0"}}}};
  input.choice = ChooseMatrix(input.facts, {{CandidateOf(input.environments[0])}, ""});
  return input;
}

// An image without CUDA on a machine without a driver.
InventoryInput BareImage() {
  InventoryInput input;
  input.subjects = {{"system", "loader"}};
  input.facts.by_subject["system"] = {
      {"gpu.count", "0"},
      {"gpu.error", "libcuda.so.1: cannot open shared object file: No such file or directory"}};
  input.choice = ChooseMatrix(input.facts, {});
  return input;
}

InventoryInput WithMatrix() {
  InventoryInput input = FullImage();
  input.choice.reset();
  input.judged = {"opt_venv", "system"};
  input.matrix = MatrixIdentity{"team-image", "matrices/team.json", std::string(64, 'a')};
  input.contract = {{"runner.driver", ">=580.65.06"},
                    {"runner.gpus", ">=1"},
                    {"runner.compute_capability", ">=8.0"},
                    {"image.toolkit", ">=13.0 <14"},
                    {"image.cudnn", ">=9.12 <10"}};
  return input;
}

std::string Screen(const InventoryInput& input) { return FactsScreen(MakeInventory(input), {}); }

// What the screen says under that label, whatever the breaks between its words.
std::string Said(const InventoryInput& input, const std::string& label) {
  std::string words;
  bool under = false;
  for (const std::string& line : Split(Screen(input), '\n')) {
    if (line.size() > 2 && line[2] != ' ') under = line.compare(2, label.size() + 1, label + " ") == 0;
    if (under && !line.empty())
      words += (words.empty() ? "" : " ") + line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }
  return words;
}

void ExpectOneScreen(const std::string& text) {
  const std::vector<std::string> lines = Split(text, '\n');
  EXPECT_LE(lines.size(), 45u) << text;
  for (const std::string& line : lines) EXPECT_LE(line.size(), 110u) << line;
}

TEST(FactsScreenTest, GoldenScreens) {
  ExpectGolden("screen_facts.txt", Screen(FullImage()));
  ExpectGolden("screen_facts_bare.txt", Screen(BareImage()));
  ExpectGolden("screen_facts_matrix.txt", Screen(WithMatrix()));
  for (const InventoryInput& input : {FullImage(), BareImage(), WithMatrix()}) ExpectOneScreen(Screen(input));
}

TEST(FactsScreenTest, LongListsAreCutAndCounted) {
  InventoryInput input = BareImage();
  for (int i = 0; i < 50; ++i) {
    const std::string key = "cudnn.copy." + std::to_string(i);
    input.facts.by_subject["system"][key + ".path"] = "/opt/copy" + std::to_string(i) + "/libcudnn.so.9";
    input.unknown.push_back("unknown " + std::to_string(i));
  }
  // The one that is used stands first, wherever it lies.
  input.judged = {"system"};
  input.facts.by_subject["system"]["cudnn.path"] = "/opt/copy49/libcudnn.so.9";
  const std::string text = Screen(input);
  EXPECT_THAT(GoldenMessages("facts.txt").Row("50 copies of cuDNN, 50 unknown", text),
              AllOf(HasSubstr("/opt/copy49: "), HasSubstr(" 42 more;"), Not(HasSubstr("/opt/copy9:"))));
  ExpectOneScreen(text);
  const std::string all = FactsScreen(MakeInventory(input), {100, false});
  for (int i = 0; i < 50; ++i) EXPECT_THAT(all, HasSubstr("/opt/copy" + std::to_string(i) + ": "));
  EXPECT_THAT(all, Not(HasSubstr(" more")));
}

TEST(FactsScreenTest, WhatDoesNotFitIsNeverCut) {
  InventoryInput input = WithMatrix();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "subject" + std::to_string(i);
    input.subjects.push_back({name, "path:/" + name});
    input.judged.push_back(name);
    input.facts.by_subject[name] = input.facts.by_subject["system"];
  }
  input.facts.by_subject["subject19"]["cudnn.version"] = "8.9.7";
  const std::string screen = Screen(input);
  const size_t at = screen.find(" image.cudnn >=9.12 <10: 8.9.7 (subject19)\n");
  ASSERT_NE(at, std::string::npos) << screen;
  const std::string line = screen.substr(screen.rfind('\n', at) + 1);
  GoldenMessages("facts.txt").Row("one of 20 subjects", line.substr(0, line.find('\n')));
}

TEST(FactsScreenTest, ALongValueIsCut) {
  InventoryInput input = BareImage();
  input.facts.by_subject["system"]["env.NVIDIA_REQUIRE_CUDA"] = std::string(5000, 'x');
  EXPECT_LT(Screen(input).size(), 2000u);
}

TEST(FactsScreenTest, TextsFromOutsideCannotSteerATerminal) {
  const std::string hostile = "\x1b[2J\x1b]0;title\x07/a\r\n::error::\xff\xfe";
  InventoryInput input = WithMatrix();
  for (auto& [subject, facts] : input.facts.by_subject)
    for (auto& [key, value] : facts)
      if (key.compare(0, 4, "gpu.") != 0) value += hostile;
  input.facts.by_subject["system"]["env." + hostile] = hostile;
  input.subjects[1].name = input.subjects[1].spec = hostile;
  input.facts.by_subject[hostile] = input.facts.by_subject["opt_venv"];
  input.judged.push_back(hostile);
  input.toolkits[0].folder = input.toolkits[0].origin = input.toolkits[0].version = hostile;
  for (PythonEnvironment& e : input.environments) {
    e.interpreter = hostile;
    e.frameworks = {{hostile, hostile + "-", hostile}};
  }
  input.matrix->name = input.matrix->path = hostile;
  input.contract["image.cudnn"] = hostile;
  input.unknown = {hostile};
  const Inventory inventory = MakeInventory(input);
  for (const std::string& text : {FactsScreen(inventory, {}), FactsScreen(inventory, {100, false}),
                                  FactsList(input.facts), FactsJson(inventory, input.facts, "0.1.0")}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("\n::"), std::string::npos) << text;
    EXPECT_TRUE(IsValidUtf8(text));
  }
  EXPECT_TRUE(json::accept(FactsJson(inventory, input.facts, "0.1.0")));
}

TEST(FactsScreenTest, AnEnvironmentSaysWhichCudnnItsPackagesGet) {
  InventoryInput input = FullImage();
  GoldenMessages golden("facts.txt");
  EXPECT_THAT(golden.Row("its own", Said(input, "python")),
              AllOf(HasSubstr(" 9.10.2 for CUDA 12"), HasSubstr(" 9.14.0")));
  input.facts.by_subject["opt_venv"]["cudnn.path"] = "/usr/lib/x86_64-linux-gnu/libcudnn.so.9";
  input.facts.by_subject["opt_venv"]["cudnn.version"] = "9.14.0";
  EXPECT_THAT(golden.Row("the loader's", Said(input, "python")), Not(HasSubstr(" 9.10.2 for CUDA 12")));
}

TEST(FactsScreenTest, ADriverThatIsHalfThereIsSaid) {
  InventoryInput input = BareImage();
  FactMap& facts = input.facts.by_subject["system"];
  facts["driver.module_version"] = "580.65.06";
  GoldenMessages golden("facts.txt");
  EXPECT_THAT(golden.Row("a kernel module", Said(input, "driver")),
              AllOf(HasSubstr("libcuda.so.1 "), HasSubstr(" 580.65.06")));
  facts["driver.library.path"] = "/usr/local/cuda/compat/libcuda.so.580.95.05";
  facts["driver.fabric_wait_s"] = "12";
  EXPECT_THAT(golden.Row("the driver of a cuda-compat package", Said(input, "driver")),
              AllOf(HasSubstr("unknown version"), HasSubstr("NVML not found"), HasSubstr(" cuda-compat "),
                    HasSubstr(" 12 s")));
}

TEST(FactsScreenTest, EnvironmentsForTwoMajorsAreNoChoice) {
  InventoryInput input = BareImage();
  input.choice = ChooseMatrix(input.facts, {{{"a", "python:/a/bin/python", "/a", "/a/lib", "12"},
                                             {"b", "python:/b/bin/python", "/b", "/b/lib", "13"}},
                                            ""});
  EXPECT_THAT(GoldenMessages("facts.txt").Row("two majors", Said(input, "--auto")),
              AllOf(HasSubstr("/a/bin/python"), HasSubstr("/b/bin/python"), Not(HasSubstr("cu12")),
                    Not(HasSubstr("cu13"))));
}

TEST(FactsScreenTest, WhereEnvironmentsAreJudgedNoMatrixOfOursIsAdvised) {
  InventoryInput input = BareImage();
  input.choice = ChooseMatrix(input.facts, {{{"a", "python:/a/bin/python", "/a", "/a/lib", "12"}}, ""});
  EXPECT_THAT(GoldenMessages("facts.txt").Row("an environment", Said(input, "--auto")),
              AllOf(HasSubstr(" cu12 "), HasSubstr(" a (/a/bin/python)"), HasSubstr("cudnn-ci init "),
                    Not(HasSubstr("--matrix"))));
}

TEST(FactsListTest, HasEveryFactOfEverySubject) {
  const std::string text = FactsList(FullImage().facts);
  EXPECT_THAT(text, AllOf(HasSubstr("subject opt_venv\n"), HasSubstr("\nsubject system\n"),
                          HasSubstr("  cudnn.cudart                    13\n"),
                          HasSubstr("  gpu.1.compute_mode              exclusive_process\n")));
}

TEST(FactsJsonTest, SaysTheSameAsTheScreen) {
  const InventoryInput input = WithMatrix();
  const json j = json::parse(FactsJson(MakeInventory(input), input.facts, "0.1.0"));
  EXPECT_EQ(j["schema"], "cudnn-ci/facts/1");
  EXPECT_EQ(j["driver"]["source"], "NVML");
  EXPECT_EQ(j["gpus"][0]["memory_bytes"], 150119055360);
  EXPECT_TRUE(j["gpus"][1]["memory_bytes"].is_null());
  EXPECT_TRUE(j["gpu_error"].is_null());
  EXPECT_EQ(j["views"][1]["name"], "opt_venv");
  EXPECT_EQ(j["views"][1]["folders"], json::array({kVenv}));
  EXPECT_EQ(j["toolkits"][0]["taken_by"], json::array({"system"}));
  EXPECT_THAT(j["cudnn"], SizeIs(3));
  EXPECT_EQ(j["cudnn"][2]["version"], "8.9.7");
  EXPECT_EQ(j["cudnn"][2]["gated"], false);
  EXPECT_EQ(j["environments"][0]["frameworks"][1]["distribution"], "cupy-cuda12x");
  EXPECT_TRUE(j["environments"][1]["name"].is_null());
  EXPECT_EQ(j["variables"]["NVIDIA_VISIBLE_DEVICES"], "all");
  EXPECT_EQ(j["matrix"]["name"], "team-image");
  EXPECT_EQ(j["matrix"]["promises"][0]["promise"], "image.cudnn");
  EXPECT_EQ(j["matrix"]["promises"][0]["fits"], true);
  EXPECT_EQ(j["matrix"]["promises"][1]["fits"], false);
  EXPECT_TRUE(j["auto"].is_null());
  EXPECT_EQ(j["subjects"]["system"]["gpu.count"], "2");
  const InventoryInput bare = BareImage();
  const json none = json::parse(FactsJson(MakeInventory(bare), bare.facts, "0.1.0"));
  EXPECT_TRUE(none["matrix"].is_null());
  EXPECT_EQ(none["auto"]["matrix"], "static");
  EXPECT_TRUE(none["auto"]["cuda"].is_null());
  EXPECT_TRUE(none["auto"]["problem"].is_null());
}

TEST(FactsJsonTest, TextsAreBounded) {
  InventoryInput input = BareImage();
  input.facts.by_subject["system"]["env.LD_LIBRARY_PATH"] = std::string(1 << 20, 'x');
  EXPECT_LT(FactsJson(MakeInventory(input), input.facts, "0.1.0").size(), size_t{100} << 10);
}

}  // namespace
}  // namespace cudnn_ci
