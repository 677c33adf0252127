// Headers and dist-info beside the libraries.
#include "cudnn/metadata.h"
#include "image/packages/cudnn_packages.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// cudnn_version.h has 3 KiB.
constexpr size_t kMostOfHeader = 64 << 10;

std::string ReadSome(const std::string& path) {
  std::string text(kMostOfHeader, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

}  // namespace

bool IsOfVersion(const std::string& package_version, const std::string& version) {
  const std::string upstream = package_version.substr(0, package_version.find('-'));
  return upstream == version || upstream.compare(0, version.size() + 1, version + ".") == 0;
}

std::string VersionOfHeader(const std::string& text) {
  std::string parts[3];
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string define, name, value;
    words >> define >> name >> value;
    if (define != "#define" || value.empty() || value.find_first_not_of("0123456789") != std::string::npos)
      continue;
    if (name == "CUDNN_MAJOR") parts[0] = value;
    if (name == "CUDNN_MINOR") parts[1] = value;
    if (name == "CUDNN_PATCHLEVEL") parts[2] = value;
  }
  for (const std::string& part : parts)
    if (part.empty()) return {};
  return parts[0] + "." + parts[1] + "." + parts[2];
}

std::string HeaderDifference(const std::string& directory, const std::string& version) {
  const fs::path libraries = directory;
  std::vector<fs::path> headers = {libraries.parent_path() / "include"};
  // Debian has the libraries of an architecture in a folder of its own, and the headers in one of its name.
  if (libraries.parent_path() == "/usr/lib")
    headers = {"/usr/include" / libraries.filename(), "/usr/include"};
  // The links of several majors' packages may lead to another major's header.
  const std::string own = "cudnn_version_v" + version.substr(0, version.find('.')) + ".h";
  for (const fs::path& folder : headers) {
    for (const std::string& name : {own, std::string("cudnn_version.h")}) {
      const std::string header = (folder / name).string(), says = VersionOfHeader(ReadSome(header));
      if (!says.empty()) return says == version ? "" : header + " has version " + says;
    }
  }
  return {};
}

std::string PackageDifference(const std::string& directory, const std::string& version) {
  const std::vector<Package> packages = CudnnWheelsOf(directory);
  std::string all;
  bool differs = packages.size() > 1;
  for (const Package& package : packages) {
    all += (all.empty() ? "" : " and ") + package.name + " " + package.version;
    differs = differs || !IsOfVersion(package.version, version);
  }
  return differs ? "the metadata beside them belongs to " + all : "";
}

}  // namespace cudnn_ci
