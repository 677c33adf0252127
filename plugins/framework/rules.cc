#include "framework/rules.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace cudnn_ci {
namespace {

struct Release {
  int major = 0, minor = -1, patch = -1;  // -1: not said
};

// The first three numbers of "9.19.0.56".
Release ReleaseOf(const std::string& version) {
  Release release;
  std::istringstream text(version);
  char dot = '.';
  if (!(text >> release.major)) release.major = 0;
  for (int* part : {&release.minor, &release.patch})
    if (!(text >> dot >> *part) || dot != '.') {
      *part = -1;
      break;
    }
  return release;
}

// The number that follows a word: 13 for "cuda" in "jax-cuda13-plugin"; 0: there is none.
int NumberAfter(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
}

// The version behind one of these operators of a requirement.
std::string VersionBehind(const std::string& requirement, const char* op) {
  const size_t at = requirement.find(op);
  if (at == std::string::npos) return "";
  const size_t begin = requirement.find_first_not_of(' ', at + std::strlen(op));
  if (begin == std::string::npos) return "";
  return requirement.substr(begin, requirement.find_first_not_of("0123456789.", begin) - begin);
}

// 12 of "nvidia-cudnn-cu12".
int FlavourOf(const std::string& package) { return NumberAfter(package, "nvidia-cudnn-cu"); }

}  // namespace

std::string WhyCudnnUnfit(const Framework& framework, const std::string& built, const std::string& loaded) {
  const Release b = ReleaseOf(built), l = ReleaseOf(loaded);
  if (b.major == 0 || l.major == 0) return "";
  if (b.major != l.major) return "cuDNN " + loaded + " has another major version";
  if (b.minor > l.minor && l.minor >= 0) return "cuDNN " + loaded + " is older";
  const auto is_9_10_0 = [](const Release& r) { return r.major == 9 && r.minor == 10 && r.patch == 0; };
  if (framework.name == kJax.name && is_9_10_0(l) && !is_9_10_0(b))
    return "cuDNN 9.10.0 renumbered values of its interface, so JAX refuses it";
  return "";
}

int CudaMajor(const std::string& version) {
  const int number = std::atoi(version.c_str());
  return number >= 1000 ? number / 1000 : std::max(number, 0);
}

std::optional<CudnnRequirement> RequirementOnCudnn(const FrameworkPackage& package) {
  for (const std::string& text : package.requirements) {
    const size_t marker = std::min(text.find(';'), text.size());
    const std::string requirement = text.substr(0, marker);
    CudnnRequirement found;
    found.cuda_major = FlavourOf(requirement);
    if (found.cuda_major == 0) continue;
    found.optional = text.find("extra", marker) != std::string::npos;
    for (const char* op : {"==", ">=", "~="})
      if (found.version.empty()) found.version = VersionBehind(requirement, op);
    found.pinned = requirement.find("==") != std::string::npos;
    return found;
  }
  return {};
}

int CudaMajorOf(const FrameworkPackage& package) {
  if (!package.cuda.empty()) return CudaMajor(package.cuda);
  // "+cu130" and "+cu118": major and one digit of the minor.
  if (const int local = NumberAfter(package.version, "+cu"); local > 0) return local / 10;
  if (const int name = NumberAfter(package.distribution, "-cuda"); name > 0) return name;
  const auto requirement = RequirementOnCudnn(package);
  return requirement && !requirement->optional ? requirement->cuda_major : 0;
}

std::string WhyPackagesUnfit(int cuda_major, const std::vector<CudnnPackageInfo>& packages) {
  if (cuda_major == 0 || packages.empty()) return "";
  const CudnnPackageInfo* right = nullptr;
  std::string others, replacing;
  for (const CudnnPackageInfo& package : packages) {
    if (FlavourOf(package.name) == cuda_major) {
      right = &package;
      continue;
    }
    const std::string text = package.name + " " + package.version;
    others += (others.empty() ? "" : ", ") + text;
    if (package.own == true) replacing = text;
  }
  if (!right) return others + " is installed, but nvidia-cudnn-cu" + std::to_string(cuda_major) + " is not";
  if (right->own == false && !replacing.empty())
    return replacing + " has replaced the libraries of " + right->name + " " + right->version + " in " +
           right->folder;
  return "";
}

std::string LoaderWords(const std::string& output) {
  constexpr size_t kMost = 300;
  std::string found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    for (const char* words :
         {"cannot open shared object file", "undefined symbol", "invalid ELF header", "file too short",
          "Could not load", "Cannot dlopen", "Failed to load", "version check failed", "Outdated ",
          "Found no NVIDIA driver", "driver on your system"})
      if (line.find(words) != std::string::npos)
        found = line.size() <= kMost ? line : line.substr(0, kMost) + "...";
  return found;
}

std::string Difference(const Computed& computed, const std::map<std::string, std::vector<double>>& expected) {
  if (!computed.not_a_number.empty()) return computed.not_a_number;
  for (const auto& [name, numbers] : computed.arrays) {
    const auto right = expected.find(name);
    if (right == expected.end()) return name + " was not requested";
    if (right->second.size() != numbers.size())
      return name + " has " + std::to_string(numbers.size()) + " elements, expected " +
             std::to_string(right->second.size());
    size_t wrong = 0, first = 0;
    for (size_t i = numbers.size(); i-- > 0;)
      if (numbers[i] != right->second[i]) {
        ++wrong;
        first = i;
      }
    if (wrong == 0) continue;
    std::ostringstream text;
    text.precision(9);
    text << name << "[" << first << "] is " << numbers[first] << ", expected " << right->second[first] << "; "
         << wrong << " of " << numbers.size() << " elements differ";
    return text.str();
  }
  return "";
}

}  // namespace cudnn_ci
