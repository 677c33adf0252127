// Texts that a person reads, compared with files that hold them as they are.
#ifndef CUDNN_CI_TESTS_UNIT_GOLDEN_FILE_H_
#define CUDNN_CI_TESTS_UNIT_GOLDEN_FILE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"

namespace cudnn_ci {

// Compares with tests/golden/NAME; CUDNN_CI_UPDATE_GOLDEN=1 writes it instead.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(CUDNN_CI_GOLDEN_DIR "/") + name;
  if (std::getenv("CUDNN_CI_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  EXPECT_EQ(ReadSmallFile(path, 1 << 20), text) << path;
}

// A row of a golden file of messages: what was given, and below it the answer.
inline std::string GoldenRow(const std::string& given, const std::string& answer) {
  return given + "\n  " + answer + "\n";
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_GOLDEN_FILE_H_
