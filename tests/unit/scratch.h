// A folder of files for one test, removed with it. Knows nothing of what is tested.
#ifndef CUDNN_CI_TESTS_UNIT_SCRATCH_H_
#define CUDNN_CI_TESTS_UNIT_SCRATCH_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cudnn_ci {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "cudnn-ci-test.XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(File(name), std::ios::binary) << content;
    return File(name);
  }
  const std::string& path() const { return path_; }
  size_t Entries() const {
    size_t count = 0;
    for (auto it = std::filesystem::directory_iterator(path_); it != std::filesystem::directory_iterator();
         ++it)
      ++count;
    return count;
  }

 private:
  std::string path_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_SCRATCH_H_
