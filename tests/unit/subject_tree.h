// A folder that stands for the root of an image, with interpreters, packages and libraries as a test makes
// them.
#ifndef CUDNN_CI_TESTS_UNIT_SUBJECT_TREE_H_
#define CUDNN_CI_TESTS_UNIT_SUBJECT_TREE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "scratch.h"

namespace cudnn_ci {

class SubjectTree : public ::testing::Test {
 protected:
  SubjectTree() : root_(std::filesystem::canonical(scratch_.path()).string()) {}

  std::string At(const std::string& path) const { return root_ + "/" + path; }
  void Folder(const std::string& path) const { std::filesystem::create_directories(At(path)); }
  std::string File(const std::string& path, const std::string& text = "") const {
    Folder(std::filesystem::path(path).parent_path().string());
    scratch_.Write(path, text);
    return At(path);
  }
  void Copy(const std::string& file, const std::string& path) const {
    Folder(std::filesystem::path(path).parent_path().string());
    std::filesystem::copy_file(file, At(path));
  }
  void Link(const std::string& target, const std::string& path) const {
    Folder(std::filesystem::path(path).parent_path().string());
    std::filesystem::create_symlink(target, At(path));
  }
  // An interpreter "PREFIX/bin/python3" of version 3.11, with a folder of packages.
  void Python(const std::string& prefix) const {
    File(prefix + "/bin/python3.11");
    Link("python3.11", prefix + "/bin/python3");
    Folder(prefix + "/lib/python3.11/site-packages");
  }
  // A virtual environment of the interpreter of another prefix.
  void Venv(const std::string& prefix, const std::string& base, bool with_systems = false) const {
    Link(At(base + "/bin/python3"), prefix + "/bin/python");
    File(prefix + "/pyvenv.cfg", "home = " + At(base + "/bin") + "\ninclude-system-site-packages = " +
                                     (with_systems ? "true" : "false") + "\nversion = 3.11.2\n");
    Folder(prefix + "/lib/python3.11/site-packages");
  }
  static std::string Site(const std::string& prefix) { return prefix + "/lib/python3.11/site-packages"; }
  // The wheel of cuDNN in a folder of packages.
  void Wheel(const std::string& site) const { File(site + "/nvidia/cudnn/lib/libcudnn.so.9"); }
  // Without the root.
  std::vector<std::string> Inside(const std::vector<std::string>& paths) const {
    std::vector<std::string> inside;
    for (const std::string& path : paths)
      inside.push_back(path.compare(0, root_.size() + 1, root_ + "/") == 0 ? path.substr(root_.size() + 1)
                                                                           : path);
    return inside;
  }

  const Scratch scratch_;
  const std::string root_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_SUBJECT_TREE_H_
