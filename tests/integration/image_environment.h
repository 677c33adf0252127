// A Python environment of a few small files, in a test's folder: what records say, without the packages.
#ifndef CUDNN_CI_TESTS_INTEGRATION_IMAGE_ENVIRONMENT_H_
#define CUDNN_CI_TESTS_INTEGRATION_IMAGE_ENVIRONMENT_H_

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cudnn_ci {

class ImageEnvironment {
 public:
  // `packages`: "torch-2.11.0", as the folders of their records are called.
  ImageEnvironment(std::string folder, const std::vector<std::string>& packages)
      : folder_(std::move(folder)) {
    namespace fs = std::filesystem;
    Write("../usr/bin/python3.12", "", true);
    Write("pyvenv.cfg", "home = /usr/bin\n");
    fs::create_directories(folder_ + "/bin");
    fs::create_symlink(folder_ + "/../usr/bin/python3.12", folder_ + "/bin/python");
    for (const std::string& package : packages) Write(Site() + package + ".dist-info/RECORD", "");
  }

  static std::string Site() { return "lib/python3.12/site-packages/"; }
  std::string Path(const std::string& file) const { return folder_ + "/" + file; }
  // As "subjects" of a matrix has it.
  std::string Subject() const { return R"({"env": "python:)" + folder_ + R"(/bin/python"})"; }

  void Write(const std::string& file, const std::string& text, bool program = false) const {
    const std::filesystem::path path = folder_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    if (program) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

 private:
  std::string folder_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_IMAGE_ENVIRONMENT_H_
