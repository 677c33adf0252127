// Loads the matrix files named on standard input, one a line; those that come with cudnn-ci lie in the folder
// that is the argument. With the argument --compatibility: tables of version facts; with --knowledge=FOLDER:
// files of knowledge, laid over those of the folder. Answers each with a line: how many problems it has, then
// the problems on lines of their own.
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "model/knowledge/knowledge.h"
#include "model/matrix/compatibility.h"
#include "model/matrix/matrix.h"

namespace {

using Problems = std::vector<cudnn_ci::Problem>;

constexpr char kKnowledge[] = "--knowledge=";

template <class Loaded>
Problems ProblemsOf(const std::variant<Loaded, Problems>& loaded) {
  const auto* problems = std::get_if<Problems>(&loaded);
  return problems ? *problems : Problems{};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string builtin = argc > 1 ? argv[1] : "";
  for (std::string path; std::getline(std::cin, path);) {
    cudnn_ci::Compatibility table;
    const Problems problems = builtin == "--compatibility" ? ProblemsOf(cudnn_ci::LoadCompatibility(path))
                              : builtin.starts_with(kKnowledge)
                                  ? ProblemsOf(cudnn_ci::LoadKnowledge(builtin.substr(sizeof kKnowledge - 1),
                                                                       {{path, "", true}}, &table))
                                  : ProblemsOf(cudnn_ci::LoadMatrix(path, builtin));
    std::cout << problems.size() << "\n";
    for (const cudnn_ci::Problem& problem : problems)
      std::cout << cudnn_ci::CleanLine(ToString(problem), 1000) << "\n";
  }
  return std::cout.flush() ? 0 : 1;
}
