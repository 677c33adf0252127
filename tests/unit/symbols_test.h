// Shared objects that a test compiles, in a folder of its own.
#ifndef CUDNN_CI_TESTS_UNIT_SYMBOLS_TEST_H_
#define CUDNN_CI_TESTS_UNIT_SYMBOLS_TEST_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cudnn_ci {

class SymbolsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/cudnn-ci-symbols-XXXXXX";
    root_ = std::filesystem::canonical(mkdtemp(pattern)).string();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Path(const std::string& path) const { return root_ + "/" + path; }
  std::string Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(Path(path)).parent_path());
    std::ofstream(Path(path), std::ios::binary) << text;
    return Path(path);
  }
  // A library of this C source; `options`: of the compiler, "@" is the test's folder. Without the C library,
  // so that it needs what it names alone.
  std::string Library(const std::string& path, const std::string& source, const std::string& options = "") {
    const std::string name = std::filesystem::path(path).filename().string();
    return Compile(path, source, "-shared -fPIC -nostdlib -Wl,-soname," + name + " " + options);
  }
  // A program that is never run; what it defines is seen by what it would load.
  std::string Program(const std::string& path, const std::string& source, const std::string& options = "") {
    return Compile(path, source + "\nvoid _start(void) {}\n",
                   "-pie -fPIE -nostdlib -rdynamic -Wl,--unresolved-symbols=ignore-all " + options);
  }

 private:
  std::string Compile(const std::string& path, const std::string& source, std::string options) {
    for (std::size_t at = 0; (at = options.find('@', at)) != std::string::npos; at += root_.size())
      options.replace(at, 1, root_);
    const std::string from = Write("source.c", source);
    std::filesystem::create_directories(std::filesystem::path(Path(path)).parent_path());
    const std::string command =
        "cc -w -o " + Path(path) + " " + from + " -Wl,--no-as-needed,--allow-shlib-undefined " + options;
    EXPECT_EQ(system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c): a test's own words
    return Path(path);
  }

  std::string root_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_SYMBOLS_TEST_H_
