#include "image/packages/installed_packages.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/path.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// PyTorch's RECORD has 2 MB, and dpkg's status of a full image likewise.
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr std::size_t kMostRecorded = std::size_t{256} << 20;  // of all packages together
constexpr std::size_t kMostPackages = 20000;
constexpr std::size_t kMostOwned = 500000;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// Calls `take` with each line, without its end.
template <class Take>
void ForEachLine(const std::string& text, const Take& take) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    take(line);
    at = end + 1;
  }
}

// The first field of a line of comma separated values: "a,b" with quotes around it may hold commas, and "" is
// a quote in it.
std::string FirstField(std::string_view line) {
  if (line.empty() || line[0] != '"') return std::string(line.substr(0, line.find(',')));
  std::string field;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (i + 1 >= line.size() || line[i + 1] != '"') break;
      ++i;
    }
    field += line[i];
  }
  return field;
}

// A name or version, as the packaging standard has their characters
// (https://packaging.python.org/en/latest/specifications/version-specifiers/); "?" for any other one.
std::string Printable(std::string text) {
  constexpr std::string_view kMarks = "._-+!~:";
  for (char& c : text)
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
          kMarks.find(c) != std::string_view::npos))
      c = '?';
  return text;
}

// The names in a folder, sorted, at most as many as there may be packages.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && names.size() < kMostPackages;
       it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string Text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// A merged /usr has one folder by two names.
std::string WithoutUsr(std::string_view path) {
  return std::string(StartsWith(path, "/usr/lib") ? path.substr(4) : path);
}

bool IsInstalled(std::string_view status) { return status.empty() || (EndsWith(status, " installed")); }

}  // namespace

bool HoldsCode(const std::string& name) {
  for (const char* ending : {".a", ".cubin", ".fatbin", ".ptx"})
    if (EndsWith(name, ending)) return true;
  const std::size_t at = name.find(".so");
  return at != std::string::npos && (at + 3 == name.size() || name[at + 3] == '.');
}

std::string NormalizedName(const std::string& name) {
  std::string normal;
  for (const char c : name) {
    if (c == '_' || c == '.' || c == '-') {
      if (normal.empty() || normal.back() != '-') normal += '-';
    } else {
      normal += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return normal;
}

void InstalledPackages::AddPython(const std::string& folder) {
  constexpr std::string_view kEnding = ".dist-info";
  for (const std::string& name : NamesIn(folder)) {
    const std::size_t dash = name.find('-');
    if (!EndsWith(name, kEnding) || dash == std::string::npos || dash > name.size() - kEnding.size())
      continue;
    if (packages_.size() >= kMostPackages)
      return problems_.push_back(folder + " has more packages than are read");
    packages_.push_back({PackageSource::kPython, Printable(NormalizedName(name.substr(0, dash))),
                         Printable(name.substr(dash + 1, name.size() - kEnding.size() - dash - 1)),
                         folder + "/" + name});
    AddRecord(folder, packages_.size() - 1);
  }
}

void InstalledPackages::AddRecord(const std::string& folder, std::size_t package) {
  const std::string path = packages_[package].records + "/RECORD";
  if (recorded_ >= kMostRecorded) return problems_.push_back(path + ": not read, the records are too large");
  const Result<std::string> record = ReadFile(path, kMostBytes);
  if (!record) return problems_.push_back(record.error());
  recorded_ += record->size();
  ForEachLine(*record, [&](std::string_view line) {
    const std::string file = FirstField(line);
    if (!HoldsCode(file) || owners_.size() >= kMostOwned) return;
    owners_.emplace(RealPath(file[0] == '/' ? file : folder + "/" + file), package);
  });
}

void InstalledPackages::AddConda(const std::string& prefix) {
  for (const std::string& name : NamesIn(prefix + "/conda-meta"))
    if (EndsWith(name, ".json")) AddCondaFile(prefix, prefix + "/conda-meta/" + name);
}

void InstalledPackages::AddCondaFile(const std::string& prefix, const std::string& file) {
  const Result<std::string> text = ReadFile(file, kMostBytes);
  if (!text) return problems_.push_back(text.error());
  const nlohmann::json object = nlohmann::json::parse(*text, nullptr, false);
  if (!object.is_object() || Text(object, "name").empty())
    return problems_.push_back(file + " is no record of conda's");
  if (packages_.size() >= kMostPackages) return;
  packages_.push_back(
      {PackageSource::kConda, Printable(Text(object, "name")), Printable(Text(object, "version")), file});
  const auto files = object.find("files");
  if (files == object.end() || !files->is_array()) return;
  for (const nlohmann::json& entry : *files)
    if (entry.is_string() && HoldsCode(entry.get<std::string>()) && owners_.size() < kMostOwned)
      owners_.emplace(RealPath(prefix + "/" + entry.get<std::string>()), packages_.size() - 1);
}

void InstalledPackages::AddDpkg(const std::vector<std::string>& files, const std::string& root) {
  std::map<std::string, std::string> wanted;  // as dpkg may have it, to the real path
  for (const std::string& file : files) {
    wanted.emplace(WithoutUsr(file), RealPath(file));
    wanted.emplace(WithoutUsr(RealPath(file)), RealPath(file));
  }
  if (wanted.empty()) return;
  const std::string folder = root + "/var/lib/dpkg";
  const Result<std::string> status = ReadFile(folder + "/status", kMostBytes);
  if (!status) return;  // another distribution
  PackageRecord package;
  std::string state, architecture;
  const auto finish = [&] {
    if (!package.name.empty() && IsInstalled(state) && packages_.size() < kMostPackages) {
      bool owns = false;
      for (const std::string& name : {package.name, package.name + ":" + architecture}) {
        const std::string list = folder + "/info/" + name + ".list";
        const Result<std::string> lines = ReadFile(list, kMostBytes);
        if (!lines) continue;
        ForEachLine(*lines, [&](std::string_view line) {
          const auto at = wanted.find(WithoutUsr(line));
          if (at == wanted.end()) return;
          owns = owners_.emplace(at->second, packages_.size()).second || owns;
        });
        package.records = list;
      }
      if (owns) packages_.push_back(package);
    }
    package = {};
    package.source = PackageSource::kDpkg;
    state.clear(), architecture.clear();
  };
  finish();
  ForEachLine(*status, [&](std::string_view line) {
    const auto value = [&](std::string_view key, std::string* text) {
      if (StartsWith(line, key)) *text = std::string(line.substr(key.size()));
    };
    if (line.empty()) finish();
    value("Package: ", &package.name);
    value("Version: ", &package.version);
    value("Status: ", &state);
    value("Architecture: ", &architecture);
  });
  finish();
}

const PackageRecord* InstalledPackages::OwnerOf(const std::string& file) const {
  const auto found = owners_.find(RealPath(file));
  return found == owners_.end() ? nullptr : &packages_[found->second];
}

const PackageRecord* InstalledPackages::Python(const std::string& name) const {
  for (const PackageRecord& package : packages_)
    if (package.source == PackageSource::kPython && package.name == name) return &package;
  return nullptr;
}

}  // namespace cudnn_ci
