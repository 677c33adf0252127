// Runs a plugin's check in a process of its own, in a composed environment: what loaded libraries leave
// behind must not reach the next test. Shared by the tests of the environment plugins.
#ifndef CUDNN_CI_TESTS_UNIT_PLUGIN_PROCESS_H_
#define CUDNN_CI_TESTS_UNIT_PLUGIN_PROCESS_H_

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace cudnn_ci {

namespace fs = std::filesystem;

using Environment = std::map<std::string, std::string>;

struct Report {
  int status = -1;  // of the process, as waitpid gives it
  std::vector<std::vector<std::string>> records;

  std::string Verdict() const { return Field("verdict", 1); }
  std::vector<std::string> Slugs() const {
    std::vector<std::string> slugs;
    for (const auto& r : records)
      if (r[0] == "finding") slugs.push_back(r[1]);
    return slugs;
  }
  // Of the first finding.
  std::string Blame() const {
    const std::string blame = Field("finding", 3);
    return blame == "0" ? "image" : blame == "1" ? "runner" : blame;
  }
  std::string Detail() const { return Field("finding", 4); }
  std::string Fact(const std::string& key) const {
    for (const auto& r : records)
      if (r[0] == "fact" && r[1] == key) return r[2];
    return "(none)";
  }
  std::string Field(const std::string& kind, size_t index) const {
    for (const auto& r : records)
      if (r[0] == kind && r.size() > index) return r[index];
    return {};
  }
};

inline void PrintTo(const Report& report, std::ostream* os) {
  *os << "status " << report.status;
  for (const auto& r : report.records) *os << "\n  " << ::testing::PrintToString(r);
}

inline std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

inline std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else if (c != '\n') {
      fields.back() += c;
    }
  }
  return fields;
}

// Runs PLUGIN.CHECK in a process that inherits nothing of the variables that change what is found.
// `arguments`: "contract:image.cudnn=>=9.0 <10", "fact:toolkit.version=12.8".
inline Report RunCheck(const std::string& check, const Environment& environment,
                       const std::vector<std::string>& arguments = {}, const std::string& launcher = "") {
  const size_t dot = check.find('.');
  std::string command = "env -u LD_LIBRARY_PATH -u CUDA_VISIBLE_DEVICES -u NVIDIA_VISIBLE_DEVICES ";
  for (const auto& [name, value] : environment) command += Quoted(name + "=" + value) + " ";
  command += launcher + " " + Quoted(PLUGIN_RUNNER) + " " +
             Quoted(std::string(PLUGIN_DIR) + "/" + check.substr(0, dot) + ".cci.so") + " " +
             Quoted(check.substr(dot + 1));
  for (const auto& a : arguments) command.append(" ").append(Quoted(a));
  Report report;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, pipe) > 0) report.records.push_back(Fields(line));
  free(line);
  report.status = pclose(pipe);
  return report;
}

inline const std::string kFakeDriver = std::string(FAKES_DIR) + "/libcuda";
inline const std::string kFakeNvml = std::string(FAKES_DIR) + "/nvml";

inline Environment Fake(Environment more = {}) {
  more.emplace("LD_LIBRARY_PATH", kFakeDriver + ":" + kFakeNvml);
  return more;
}

class PluginTest : public ::testing::Test {
 protected:
  PluginTest() {
    std::string pattern = ::testing::TempDir() + "cudnn-ci-plugins-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~PluginTest() override { fs::remove_all(directory_); }

  void Write(const std::string& name, const std::string& bytes) {
    fs::remove(directory_ + "/" + name);
    std::ofstream(directory_ + "/" + name, std::ios::binary) << bytes;
  }
  // The first half of one of the toolkit's libraries.
  void WriteHalf(const std::string& name) {
    fs::remove(directory_ + "/" + name);
    fs::copy_file(fs::canonical(CUDA_LIBRARY_DIR "/" + name), directory_ + "/" + name);
    fs::resize_file(directory_ + "/" + name, fs::file_size(directory_ + "/" + name) / 2);
  }
  // cuDNN of this machine in our directory, by hard links so that links do not lead out of it again.
  void LinkCudnn() {
    for (const auto& entry : fs::directory_iterator(CUDA_LIBRARY_DIR)) {
      const std::string name = entry.path().filename().string();
      if (name.compare(0, 8, "libcudnn") != 0 || name.find(".so.9") == std::string::npos) continue;
      std::error_code failed;
      const fs::path file = fs::canonical(entry.path());
      fs::create_hard_link(file, directory_ + "/" + name, failed);
      if (failed) fs::copy_file(file, directory_ + "/" + name);
    }
  }
  Environment Here() const { return {{"LD_LIBRARY_PATH", directory_}}; }
  std::string directory_;
};

inline bool HasLibrary(const std::string& name) { return fs::exists(CUDA_LIBRARY_DIR "/" + name); }

#define REQUIRE_LIBRARY(name) \
  if (!HasLibrary(name)) GTEST_SKIP() << name << " is not in " CUDA_LIBRARY_DIR
#define REQUIRE_NO_DRIVER()                                                                      \
  if (RunCheck("driver.load", {}).Slugs() != std::vector<std::string>{"driver-library-missing"}) \
  GTEST_SKIP() << "this machine has a driver"

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_PLUGIN_PROCESS_H_
