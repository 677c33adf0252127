#include "cudnn/packages.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include "common/program.h"
#include "image/packages/dpkg_records.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPackages = 64;
constexpr double kRpmSeconds = 10;

}  // namespace

bool IsSystemFolder(const std::string& path) {
  return (path.starts_with("/usr/") || path.starts_with("/lib")) &&
         path.find("-packages/") == std::string::npos;
}

std::vector<Package> PackagesOf(const std::string& directory) {
  const fs::path package = fs::path(directory).parent_path();  // SITE-PACKAGES/nvidia/cudnn
  if (package.parent_path().filename() != "nvidia") return {};
  const std::string stem = package.filename() == "cudnn_jit" ? "nvidia-cudnn-jit-cu" : "nvidia-cudnn-cu";
  std::vector<Package> packages = PythonPackagesIn(package.parent_path().parent_path().string());
  std::erase_if(packages, [&](const Package& p) { return !p.name.starts_with(stem); });
  std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return packages;
}

std::vector<Package> DpkgPackagesOf(const std::vector<std::string>& files, const std::string& root) {
  std::vector<std::string> systems;
  std::copy_if(files.begin(), files.end(), std::back_inserter(systems), IsSystemFolder);
  std::vector<Package> packages;
  for (DpkgOwner& owner : DpkgOwnersOf(systems, root, "libcudnn"))
    packages.push_back(std::move(owner.package));
  return packages;
}

std::vector<Package> ParseRpmAnswer(const std::string& text) {
  std::vector<Package> packages;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && packages.size() < kMostPackages;) {
    std::istringstream words(line);
    Package package{PackageManager::kRpm, "", "", ""};
    std::string more;
    // Warnings stand between the lines of an answer.
    if (words >> package.name >> package.version && !(words >> more)) packages.push_back(std::move(package));
  }
  return packages;
}

std::vector<Package> RpmPackagesOf(Context& ctx, const std::string& file) {
  if (!IsSystemFolder(file) || !HasRpmDatabase()) return {};
  if (const std::string why = WhyNotFound("rpm"); !why.empty()) {
    ctx.Log("rpm's database is not looked at, for there is no program rpm: " + why);
    return {};
  }
  const ChildResult answer = ctx.RunChild(
      {"rpm", "-qf", "--queryformat", "%{NAME} %{VERSION}-%{RELEASE}\\n", file}, {}, kRpmSeconds);
  if (answer.exit_status != 0) return {};
  return ParseRpmAnswer(answer.output);
}

}  // namespace cudnn_ci
