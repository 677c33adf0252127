#include "image/packages/python_metadata.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "base/file.h"
#include "base/path.h"
#include "image/packages/record_text.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kDistInfo = ".dist-info", kEggInfo = ".egg-info";
constexpr std::size_t kMostOfMetadata = 64 << 10;  // what stands in front of the description

// Takes the first field of a line of comma separated values: "a,b" with quotes around it may hold commas, and
// "" is a quote in it.
std::string TakeField(std::string_view* line) {
  std::string field;
  std::size_t end = std::min(line->find(','), line->size());
  if (!line->starts_with('"')) {
    field = line->substr(0, end);
  } else {
    std::size_t i = 1;
    for (; i < line->size(); ++i) {
      if ((*line)[i] == '"') {
        if (i + 1 >= line->size() || (*line)[i + 1] != '"') break;
        ++i;
      }
      field += (*line)[i];
    }
    end = std::min(line->find(',', std::min(i, line->size())), line->size());
  }
  line->remove_prefix(std::min(end + 1, line->size()));
  return field;
}

Package Made(const std::string& name, const std::string& version, const std::string& records) {
  return {PackageManager::kPython, PrintableRecord(NormalizedName(name)), PrintableRecord(version), records};
}

// By the headers of PKG-INFO, which end at an empty line.
std::optional<Package> ReadEggInfo(const std::string& path) {
  const std::string file = IsFolder(path) ? path + "/PKG-INFO" : path;
  std::string name, version;
  bool headers = true;
  ForEachLine(ReadSmallFile(file, kMostOfMetadata), [&](std::string_view line) {
    constexpr std::string_view kName = "Name: ", kVersion = "Version: ";
    headers = headers && !line.empty();
    if (headers && name.empty() && line.starts_with(kName)) name = line.substr(kName.size());
    if (headers && version.empty() && line.starts_with(kVersion)) version = line.substr(kVersion.size());
  });
  if (name.empty()) return std::nullopt;
  return Made(name, version, path);
}

}  // namespace

std::string NormalizedName(const std::string& name) {
  std::string normal;
  for (const char c : name) {
    if (c == '_' || c == '.' || c == '-') {
      if (!normal.ends_with('-')) normal += '-';
    } else {
      normal += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return normal;
}

std::optional<Package> PythonPackageOf(const std::string& folder, const std::string& entry) {
  const bool egg = entry.ends_with(kEggInfo);
  if (!egg && !entry.ends_with(kDistInfo)) return std::nullopt;
  const std::string stem = entry.substr(0, entry.size() - (egg ? kEggInfo : kDistInfo).size());
  const std::size_t dash = stem.find('-');
  if (dash == std::string::npos && egg && !stem.empty()) return ReadEggInfo(folder + "/" + entry);
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  // The Python for which it was made stands behind the version.
  const std::size_t end = egg ? stem.find('-', dash + 1) : std::string::npos;
  return Made(stem.substr(0, dash), stem.substr(dash + 1, end - dash - 1), folder + "/" + entry);
}

std::vector<Package> PythonPackagesIn(const std::string& folder) {
  std::vector<Package> packages;
  for (const std::string& entry : RecordNames(folder))
    if (std::optional<Package> package = PythonPackageOf(folder, entry))
      packages.push_back(std::move(*package));
  return packages;
}

Result<std::size_t> ForEachRecordOf(const Package& package,
                                    const std::function<void(const RecordedFile& file)>& take) {
  const bool egg = package.records.ends_with(kEggInfo);
  const std::string list = package.records + (egg ? "/installed-files.txt" : "/RECORD");
  // A distribution's package manager has the list then, and takes RECORD out.
  if (!Exists(list)) return std::size_t{0};
  const Result<std::string> text = ReadFile(list, kMostRecordBytes);
  if (!text) return Error{text.error()};
  const std::string folder = egg ? package.records : DirectoryOf(package.records);
  ForEachLine(*text, [&](std::string_view line) {
    RecordedFile file;
    file.path = egg ? std::string(line) : TakeField(&line);
    if (file.path.empty()) return;
    if (file.path[0] != '/') file.path = folder + "/" + file.path;
    if (!egg) {
      file.hash = TakeField(&line);
      const std::string size = TakeField(&line);
      std::from_chars(size.data(), size.data() + size.size(), file.size);
    }
    take(file);
  });
  return text->size();
}

Result<std::size_t> ForEachFileOf(const Package& package,
                                  const std::function<void(const std::string& path)>& take) {
  return ForEachRecordOf(package, [&](const RecordedFile& file) { take(file.path); });
}

std::vector<std::string> ImportNamesOf(const Package& package) {
  constexpr std::size_t kMostNames = 1000;
  constexpr std::string_view kSource = ".py";
  const std::string folder = DirectoryOf(package.records) + "/";
  std::set<std::string> names;
  const Result<std::size_t> read = ForEachFileOf(package, [&](const std::string& path) {
    if (!path.ends_with(kSource) || !path.starts_with(folder) || names.size() >= kMostNames) return;
    const std::string below = path.substr(folder.size());
    names.insert(below.substr(0, below.find_first_of("/.")));
  });
  names.erase("");  // of paths that lead out of the folder
  return read.ok() ? std::vector<std::string>(names.begin(), names.end()) : std::vector<std::string>();
}

}  // namespace cudnn_ci
