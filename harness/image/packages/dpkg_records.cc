#include "image/packages/dpkg_records.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "image/packages/record_text.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kSums = ".md5sums";
// Of names of packages that have no shared library, or none but links for the linker.
constexpr std::array<std::string_view, 5> kWithoutLibraries = {"-dev-", "-headers-", "-static-", "-samples-",
                                                               "-doc-"};

// One paragraph of records.
struct Paragraph {
  std::string package, version, status, architecture;

  // "install ok installed"; a file of status.d says none.
  bool installed() const { return status.empty() || status.ends_with(" installed"); }
};

void ForEachParagraph(const std::string& text, const std::function<void(const Paragraph&)>& take) {
  Paragraph paragraph;
  const std::pair<std::string_view, std::string Paragraph::*> fields[] = {
      {"Package: ", &Paragraph::package},
      {"Version: ", &Paragraph::version},
      {"Status: ", &Paragraph::status},
      {"Architecture: ", &Paragraph::architecture}};
  const auto finish = [&] {
    if (!paragraph.package.empty() && paragraph.installed()) take(paragraph);
    paragraph = {};
  };
  ForEachLine(text, [&](std::string_view line) {
    if (line.empty()) finish();
    for (const auto& [name, member] : fields)
      if (line.starts_with(name)) paragraph.*member = line.substr(name.size());
  });
  finish();
}

// A path by its shorter name: a merged /usr has one folder by two names, "/usr/lib" and "/lib".
std::string WithoutUsr(const std::string& path) {
  return path.starts_with("/usr/lib") ? path.substr(4) : path;
}

// Calls `take` with each path of a list, as dpkg has it: absolute, without root. Returns the bytes read.
std::size_t ForEachFileOfList(const std::string& list,
                              const std::function<void(const std::string& path)>& take) {
  const Result<std::string> text = ReadFile(list, kMostRecordBytes);
  if (!text) return 0;
  const bool sums = list.ends_with(kSums);
  ForEachLine(*text, [&](std::string_view line) {
    // "d41d8cd98f00b204e9800998ecf8427e  usr/lib/libz.so.1"
    const std::size_t begin = sums ? line.find("  ") : 0;
    if (begin == std::string_view::npos) return;
    take(sums ? "/" + std::string(line.substr(begin + 2)) : std::string(line));
  });
  return text->size();
}

// Whether a package without a list has this file, by name alone.
bool HasByName(const Package& package, const std::string& file) {
  const std::string path = WithoutUsr(file);
  const std::size_t so = path.find(".so.", path.rfind('/') + 1);
  if (!path.starts_with("/lib") || so == std::string::npos) return false;
  const std::size_t name = path.rfind('/', so) + 1;
  // Parts of cuDNN are "libcudnn_ops.so.9".
  const std::string stem = path.substr(name, std::min(path.find('_', name), so) - name);
  const std::size_t major = so + 4;
  const std::string begin = stem + path.substr(major, path.find_first_not_of("0123456789", major) - major);
  if (begin == stem || !package.name.starts_with(begin)) return false;
  const std::string variant = package.name.substr(begin.size());  // "", "-cuda-13", "-dev-cuda-13"
  return (variant.empty() || variant[0] == '-') &&
         std::none_of(kWithoutLibraries.begin(), kWithoutLibraries.end(),
                      [&](std::string_view word) { return (variant + "-").find(word) != std::string::npos; });
}

}  // namespace

std::vector<DpkgPackage> DpkgPackagesIn(const std::string& root, const std::string& name_begins) {
  const std::string folder = root + "/var/lib/dpkg";
  std::vector<DpkgPackage> packages;
  std::size_t bytes = 0;
  const auto read = [&](const std::string& path, const std::string& sums) {
    const Result<std::string> text = ReadFile(path, kMostRecordBytes);
    if (!text || bytes > kMostRecordedBytes) return;
    bytes += text->size();
    ForEachParagraph(*text, [&](const Paragraph& paragraph) {
      if (packages.size() >= kMostPackages || !paragraph.package.starts_with(name_begins)) return;
      DpkgPackage found;
      const std::string list = folder + "/info/" + paragraph.package;
      for (const std::string& candidate :
           {list + ".list", list + ":" + paragraph.architecture + ".list", sums})
        if (!candidate.empty() && Exists(candidate)) found.lists.push_back(candidate);
      found.package = {PackageManager::kDpkg, paragraph.package, paragraph.version,
                       found.lists.empty() ? path : found.lists.back()};
      packages.push_back(std::move(found));
    });
  };
  read(folder + "/status", "");
  for (const std::string& name : RecordNames(folder + "/status.d"))
    if (name.starts_with(name_begins) && !name.ends_with(kSums))
      read(folder + "/status.d/" + name, folder + "/status.d/" + name + std::string(kSums));
  return packages;
}

std::vector<DpkgOwner> DpkgOwnersOf(const std::vector<std::string>& files, const std::string& root,
                                    const std::string& name_begins) {
  std::map<std::string, std::string> wanted;  // as dpkg may have it, to the real path
  for (const std::string& file : files) {
    wanted.emplace(WithoutUsr(file), RealPath(file));
    wanted.emplace(WithoutUsr(RealPath(file)), RealPath(file));
  }
  std::vector<DpkgOwner> owners;
  if (wanted.empty()) return owners;
  for (const DpkgPackage& record : DpkgPackagesIn(root, name_begins)) {
    DpkgOwner owner{record.package, {}};
    bool listed = false;
    const auto take = [&](const std::string& path) {
      if (const auto at = wanted.find(WithoutUsr(path)); at != wanted.end())
        owner.files.push_back(at->second);
    };
    for (const std::string& list : record.lists) listed = ForEachFileOfList(list, take) > 0 || listed;
    for (const auto& [path, real] : wanted)
      if (!listed && HasByName(record.package, path)) owner.files.push_back(real);
    if (!owner.files.empty()) owners.push_back(std::move(owner));
  }
  return owners;
}

bool HasRpmDatabase(const std::string& root) {
  for (const char* folder : {"/var/lib/rpm/", "/usr/lib/sysimage/rpm/", "/usr/share/rpm/"})
    for (const char* file : {"rpmdb.sqlite", "Packages", "Packages.db"})
      if (Exists(root + folder + file)) return true;
  return false;
}

}  // namespace cudnn_ci
