#include "workload.h"

#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace cudnn_ci::bench {
namespace {

namespace fs = std::filesystem;

void Write(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

Workload::Workload(const std::string& stage, const std::string& plugin, std::string ctest)
    : ctest_(std::move(ctest)) {
  std::string pattern = (fs::temp_directory_path() / "cudnn-ci-bench-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw fs::filesystem_error("mkdtemp", pattern, std::error_code(errno, std::generic_category()));
  folder_ = pattern;
  for (const char* part : {"bin", "libexec", "plugins"}) fs::create_directories(folder_ + "/" + part);
  fs::copy_file(stage + "/bin/cudnn-ci", folder_ + "/bin/cudnn-ci");
  fs::copy_file(stage + "/libexec/cudnn-ci-worker", folder_ + "/libexec/cudnn-ci-worker");
  fs::copy_file(plugin, folder_ + "/plugins/bench.cci.so");
  gate_ = folder_ + "/bin/cudnn-ci";
}

Workload::~Workload() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Sample Workload::Checked(const std::vector<std::string>& argv) {
  const std::string output = folder_ + "/output";
  const Sample sample = RunProgram(argv, output);
  if (sample.exit_status == 0) return sample;
  std::ostringstream said;
  said << std::ifstream(output).rdbuf();
  fprintf(stderr, "cudnn_ci_bench: %s ended with %d:\n%s\n", argv[0].c_str(), sample.exit_status,
          said.str().c_str());
  exit(1);
}

std::string Workload::Matrix(const std::string& check, int cases) {
  std::string path = folder_ + "/matrices/" + check + "-" + std::to_string(cases) + ".json";
  if (fs::exists(path)) return path;
  std::string text = R"({"schema": "cudnn-ci/matrix/1", "name": "bench", "checks": [{"check": ")" + check +
                     R"(", "axes": {"i": [)";
  for (int i = 0; i < cases; ++i) text += (i == 0 ? "" : ",") + std::to_string(i);
  Write(path, text + "]}}]}\n");
  return path;
}

Sample Workload::Gate(const std::string& check, const std::string& isolation, int cases, int jobs) {
  return Checked({gate_, "--matrix", Matrix(check, cases), "--isolation", isolation, "--jobs",
                  std::to_string(jobs), "--output-dir", folder_ + "/reports"});
}

Sample Workload::List(int cases) { return Checked({gate_, "list", "--matrix", Matrix("bench.noop", cases)}); }

Sample Workload::Rebuild() {
  return Checked({gate_, "report", folder_ + "/reports/journal.jsonl", "--output-dir", folder_ + "/rebuilt"});
}

Sample Workload::CTest(int tests, int jobs) {
  const std::string tree = folder_ + "/ctest-" + std::to_string(tests);
  if (!fs::exists(tree)) {
    std::string text;
    for (int i = 0; i < tests; ++i) text += "add_test(t" + std::to_string(i) + " /bin/true)\n";
    Write(tree + "/CTestTestfile.cmake", text);
  }
  // What it remembers of earlier runs changes the order and costs time.
  fs::remove_all(tree + "/Testing");
  return Checked(
      {ctest_, "--test-dir", tree, "-j" + std::to_string(jobs), "--output-junit", folder_ + "/ctest.xml"});
}

}  // namespace cudnn_ci::bench
