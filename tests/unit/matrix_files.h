// Matrix files for one test: what loading them says. Knows nothing of what is in them.
#ifndef CUDNN_CI_TESTS_UNIT_MATRIX_FILES_H_
#define CUDNN_CI_TESTS_UNIT_MATRIX_FILES_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "golden_messages.h"
#include "model/matrix/matrix.h"
#include "scratch.h"

namespace cudnn_ci {

// The problems of a file, one a line, with the scratch folder cut off.
inline std::string Problems(const Scratch& scratch, const std::string& path) {
  const auto loaded = LoadMatrix(path);
  if (std::holds_alternative<Matrix>(loaded)) return "none";
  std::vector<std::string> lines;
  for (const Problem& problem : std::get<std::vector<Problem>>(loaded)) {
    std::string line = ToString(problem);
    for (size_t at; (at = line.find(scratch.path() + "/")) != line.npos;)
      line.erase(at, scratch.path().size() + 1);
    lines.push_back(line);
  }
  return Join(lines, "\n");
}

// The same, as a row of `golden` beside the beginning of what the file holds.
inline std::string Problems(const Scratch& scratch, const std::string& path, GoldenMessages* golden) {
  return golden->Row(CleanLine(ReadSmallFile(path, 100), 100), Problems(scratch, path));
}

// What is wrong with a matrix of these keys, besides schema and name. They stand in line 2.
inline std::string ProblemsOf(const std::string& keys) {
  const Scratch scratch;
  return Problems(
      scratch, scratch.Write("m.json", "{\"schema\":\"cudnn-ci/matrix/1\",\"name\":\"m\",\n" + keys + "}\n"));
}

// The same, as a row of `golden` beside the beginning of the keys.
inline std::string ProblemsOf(const std::string& keys, GoldenMessages* golden) {
  return golden->Row(CleanLine(keys, 100), ProblemsOf(keys));
}

inline Matrix Load(const std::string& path) {
  auto loaded = LoadMatrix(path);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
    for (const Problem& problem : *problems) ADD_FAILURE() << ToString(problem);
    return {};
  }
  return std::get<Matrix>(std::move(loaded));
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_MATRIX_FILES_H_
