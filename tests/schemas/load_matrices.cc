// Loads the matrix files named on standard input, one a line; those that come with cudnn-ci lie in the folder
// that is the argument. Answers each with a line: how many problems it
// has, then the problems on lines of their own.
#include <iostream>
#include <string>

#include "base/text.h"
#include "model/matrix.h"

int main(int argc, char** argv) {
  const std::string builtin = argc > 1 ? argv[1] : "";
  for (std::string path; std::getline(std::cin, path);) {
    const auto loaded = cudnn_ci::LoadMatrix(path, builtin);
    const auto* problems = std::get_if<std::vector<cudnn_ci::Problem>>(&loaded);
    std::cout << (problems == nullptr ? 0 : problems->size()) << "\n";
    for (size_t i = 0; problems != nullptr && i < problems->size(); ++i) {
      std::cout << cudnn_ci::CleanLine(ToString((*problems)[i]), 1000) << "\n";
    }
  }
  return std::cout.flush() ? 0 : 1;
}
