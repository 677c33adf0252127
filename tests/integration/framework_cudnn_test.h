// A machine of fake libraries with packages of cuDNN beside the fake frameworks, made in a folder of the
// test.
#ifndef CUDNN_CI_TESTS_INTEGRATION_FRAMEWORK_CUDNN_TEST_H_
#define CUDNN_CI_TESTS_INTEGRATION_FRAMEWORK_CUDNN_TEST_H_

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework_test.h"

namespace cudnn_ci {

namespace fs = std::filesystem;

class FrameworkCudnn : public FrameworkTest {
 protected:
  static constexpr char kPinned[] = "nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\"";
  // A folder of packages that comes before the fake frameworks.
  explicit FrameworkCudnn(const std::string& site = "site") : site_(gate().Path(site)) {
    fs::create_directories(site_);
    Set("PYTHONPATH", site_ + ":" CUDNN_CI_SOURCE_DIR "/tests/fakes/frameworks");
  }
  const std::string& site() const { return site_; }
  std::string Folder() const { return site_ + "/nvidia/cudnn/lib"; }

  // The metadata of an installed package.
  void Install(const std::string& name, const std::string& version, const std::string& requirement = "",
               const std::string& record = "") {
    std::string stem = name;
    std::replace(stem.begin(), stem.end(), '-', '_');
    const std::string folder = site_ + "/" + stem + "-" + version + ".dist-info";
    fs::create_directory(folder);
    std::ofstream(folder + "/METADATA")
        << "Metadata-Version: 2.1\nName: " << name << "\nVersion: " << version << "\n"
        << (requirement.empty() ? "" : "Requires-Dist: " + requirement + "\n");
    std::ofstream(folder + "/RECORD") << record;
  }
  // A package of cuDNN; `size` is what its record says of the graph library, if not what it has.
  void InstallCudnn(int cuda, const std::string& version, const std::string& size = "") {
    fs::create_directories(Folder());
    std::string record;
    for (const char* file : {"libcudnn.so.9", "libcudnn_graph.so.9"}) {
      fs::copy_file(FakeFile("cudnn_plain", file), Folder() + "/" + file,
                    fs::copy_options::overwrite_existing);
      const bool graph = std::string(file).find("graph") != std::string::npos;
      record += std::string("nvidia/cudnn/lib/") + file +
                ",sha256=" + std::string(43, cuda == 13 ? 'A' : 'B') + "," +
                (graph && !size.empty() ? size : std::to_string(fs::file_size(Folder() + "/" + file))) + "\n";
    }
    Install("nvidia-cudnn-cu" + std::to_string(cuda), version, "", record);
  }
  // "WHERE: LINE" of the first finding; empty: it has none.
  static std::string Line(const CheckOutcome& r) {
    const json& findings = r.record["findings"];
    if (findings.empty() || !findings[0].contains("command")) return "";
    return findings[0]["where"].get<std::string>() + ": " + findings[0]["command"].get<std::string>();
  }
  // The framework's process loads these files.
  void Loads(const std::vector<std::string>& files) {
    std::string all;
    for (const std::string& file : files) all += file + ":";
    Set("FAKE_LIBRARIES", all);
  }

 private:
  const std::string site_;
};

class FrameworkVersions : public FrameworkCudnn {
 protected:
  explicit FrameworkVersions(const std::string& site = "site") : FrameworkCudnn(site) { UseFakes({}); }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_FRAMEWORK_CUDNN_TEST_H_
