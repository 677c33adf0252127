#include "cudnn/packages.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "common/program.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// A full image has 2 MB of records, and a package some hundred files.
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr int kMostRecords = 20000;
constexpr std::size_t kMostPackages = 64;
constexpr double kRpmSeconds = 10;

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// Calls `take` with each line of a file, at most so many bytes of it. False: it cannot be read.
template <class Take>
bool ForEachLine(const std::string& path, const Take& take) {
  std::error_code ignored;
  // A larger one is none of a package manager's, and may be one endless line.
  if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) > kMostBytes) return false;
  std::ifstream file(path, std::ios::binary);
  std::size_t bytes = 0;
  for (std::string line; bytes < kMostBytes && std::getline(file, line); bytes += line.size() + 1) take(line);
  return !file.bad() && bytes > 0;
}

struct Record {
  std::string package, version, status, architecture;

  // "install ok installed"; status.d says none.
  bool installed() const {
    return status.empty() || (status.size() >= 9 && status.compare(status.size() - 9, 9, "installed") == 0 &&
                              status.find("not-installed") == std::string::npos &&
                              status.find("half-installed") == std::string::npos);
  }
};

// The paragraphs of packages of cuDNN in one file of records.
void AddRecords(const std::string& path, std::vector<Record>* records) {
  Record record;
  const auto finish = [&] {
    if (StartsWith(record.package, "libcudnn") && record.installed() && records->size() < kMostPackages)
      records->push_back(record);
    record = {};
  };
  const std::pair<const char*, std::string Record::*> fields[] = {{"Package: ", &Record::package},
                                                                  {"Version: ", &Record::version},
                                                                  {"Status: ", &Record::status},
                                                                  {"Architecture: ", &Record::architecture}};
  ForEachLine(path, [&](const std::string& line) {
    if (line.empty()) finish();
    for (const auto& [name, member] : fields)
      if (StartsWith(line, name)) record.*member = line.substr(std::string(name).size());
  });
  finish();
}

// A merged /usr has one folder by two names.
std::string WithoutUsr(const std::string& path) {
  return StartsWith(path, "/usr/lib") ? path.substr(4) : path;
}

bool Owns(const Record& record, const std::set<std::string>& files, const std::string& root) {
  const std::string stem = root + "/var/lib/dpkg/info/" + record.package;
  for (const std::string& list : {stem + ".list", stem + ":" + record.architecture + ".list"}) {
    bool found = false;
    const bool read = ForEachLine(
        list, [&](const std::string& line) { found = found || files.count(WithoutUsr(line)) > 0; });
    if (read) return found;
  }
  // By name alone: libcudnn8 has no libcudnn.so.9.
  return std::any_of(files.begin(), files.end(), [&record](const std::string& file) {
    const std::size_t major = file.rfind(".so.");
    return StartsWith(file, "/lib") && major != std::string::npos &&
           StartsWith(record.package, "libcudnn" + file.substr(major + 4, 1));
  });
}

}  // namespace

bool IsSystemFolder(const std::string& path) {
  return (StartsWith(path, "/usr/") || StartsWith(path, "/lib")) &&
         path.find("-packages/") == std::string::npos;
}

std::vector<CudnnPackage> DpkgPackagesOf(const std::vector<std::string>& files, const std::string& root) {
  std::set<std::string> names;
  for (const std::string& file : files)
    if (IsSystemFolder(file)) names.insert(WithoutUsr(file));
  std::vector<CudnnPackage> packages;
  if (names.empty()) return packages;
  std::vector<Record> records;
  AddRecords(root + "/var/lib/dpkg/status", &records);
  std::error_code error;
  int entries = 0;
  for (fs::directory_iterator it(root + "/var/lib/dpkg/status.d", error), end;
       !error && it != end && ++entries <= kMostRecords; it.increment(error)) {
    if (StartsWith(it->path().filename().string(), "libcudnn")) AddRecords(it->path().string(), &records);
  }
  for (const Record& record : records)
    if (Owns(record, names, root)) packages.push_back({record.package, record.version});
  return packages;
}

bool HasRpmDatabase(const std::string& root) {
  for (const char* folder : {"/var/lib/rpm/", "/usr/lib/sysimage/rpm/", "/usr/share/rpm/"}) {
    for (const char* file : {"rpmdb.sqlite", "Packages", "Packages.db"}) {
      std::error_code ignored;
      if (fs::exists(root + folder + file, ignored)) return true;
    }
  }
  return false;
}

std::vector<CudnnPackage> ParseRpmAnswer(const std::string& text) {
  std::vector<CudnnPackage> packages;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && packages.size() < kMostPackages;) {
    std::istringstream words(line);
    CudnnPackage package;
    std::string more;
    // Warnings stand between the lines of an answer.
    if (words >> package.name >> package.version && !(words >> more)) packages.push_back(std::move(package));
  }
  return packages;
}

std::vector<CudnnPackage> RpmPackagesOf(Context& ctx, const std::string& file) {
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
