#include "image/packages/rpm_answer.h"

#include <sstream>
#include <utility>

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostAnswers = 64;

}  // namespace

std::vector<Package> ParseRpmAnswer(const std::string& text) {
  std::vector<Package> packages;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && packages.size() < kMostAnswers;) {
    std::istringstream words(line);
    Package package{PackageManager::kRpm, "", "", ""};
    std::string more;
    // Warnings stand between the lines of an answer.
    if (words >> package.name >> package.version && !(words >> more)) packages.push_back(std::move(package));
  }
  return packages;
}

}  // namespace cudnn_ci
