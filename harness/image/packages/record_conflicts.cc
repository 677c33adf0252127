#include "image/packages/record_conflicts.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "image/packages/installed_packages.h"
#include "image/packages/python_metadata.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostFiles = 100000, kMostGone = 20000, kMostGoneNamed = 1000, kMostShown = 20,
                      kMostHashed = std::size_t{512} << 20;

struct Claim {
  std::size_t package;
  std::string hash;  // in lower-case hex
  std::uintmax_t size;
};

// The hex of "sha256=" and URL-safe base64 without padding; none: it is of another form.
std::optional<std::string> HexOf(std::string_view hash) {
  constexpr std::string_view kBegin = "sha256=",
                             kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (!hash.starts_with(kBegin) || hash.size() != kBegin.size() + 43) return std::nullopt;
  std::string hex;
  unsigned bits = 0, count = 0;
  for (const char c : hash.substr(kBegin.size())) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<unsigned>(digit);
    for (count += 6; count >= 4;) {
      count -= 4;
      hex += "0123456789abcdef"[bits >> count & 15];
    }
    bits &= (1U << count) - 1;
  }
  hex.resize(64);
  return hex;
}

std::uintmax_t SizeOf(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

class Finder {
 public:
  explicit Finder(const std::vector<Package>& packages) : packages_(packages) {}

  RecordConflicts Run() {
    for (std::size_t i = 0; i < packages_.size(); ++i)
      if (packages_[i].manager == PackageManager::kPython) Read(i);
    for (const auto& [path, claims] : claims_)
      if (claims.size() > 1)
        Compare(path, claims);
      else
        Measure(path, claims.front());
    RecordConflicts conflicts;
    for (auto& [pair, files] : replaced_) conflicts.replaced.push_back(std::move(files));
    for (auto& [package, files] : changed_) conflicts.changed.push_back(std::move(files));
    for (auto& [package, files] : gone_) {
      files.there = there_[package];
      conflicts.gone.push_back(std::move(files));
    }
    return conflicts;
  }

 private:
  void Read(std::size_t package) {
    const Result<std::size_t> read = ForEachRecordOf(packages_[package], [&](const RecordedFile& file) {
      if (claims_.size() >= kMostFiles || gone_files_ >= kMostGone ||
          !HoldsCode(file.path.substr(file.path.rfind('/') + 1)))
        return;
      std::optional<std::string> hash = HexOf(file.hash);
      if (!hash) return;
      const std::string path = Normal(file.path);
      if (!Exists(path)) {
        if (path.find(".so", path.rfind('/')) == std::string::npos) return;
        GoneFiles& gone = gone_[package];
        gone.package = packages_[package];
        ++gone_files_;
        if (++gone.count <= kMostGoneNamed) gone.files.push_back(path);
        return;
      }
      ++there_[package];
      claims_[path].push_back({package, std::move(*hash), file.size});
    });
    if (!read) return;  // InstalledPackages says which RECORD cannot be read
  }

  // Whose claim the file meets; null: none, or unknown.
  const Claim* WinnerOf(const std::string& path, const std::vector<Claim>& claims) {
    const std::uintmax_t size = SizeOf(path);
    std::vector<const Claim*> fitting;
    for (const Claim& claim : claims)
      if (claim.size == size) fitting.push_back(&claim);
    const auto alike = [&](const Claim* claim) { return claim->hash == fitting.front()->hash; };
    if (fitting.empty() || std::all_of(fitting.begin(), fitting.end(), alike))
      return fitting.empty() ? nullptr : fitting.front();
    if (size > kMostHashed - hashed_) return nullptr;
    hashed_ += size;
    const Result<std::string> bytes = ReadFile(path, kMostHashed);
    const std::string hash = bytes ? Sha256Hex(*bytes) : "";
    for (const Claim* claim : fitting)
      if (claim->hash == hash) return claim;
    return nullptr;
  }

  void Compare(const std::string& path, const std::vector<Claim>& claims) {
    if (std::all_of(claims.begin(), claims.end(),
                    [&](const Claim& claim) { return claim.hash == claims.front().hash; }))
      return;
    const Claim* winner = WinnerOf(path, claims);
    if (!winner) return;
    for (const Claim& claim : claims) {
      if (claim.hash == winner->hash) continue;
      ReplacedFiles& replaced = replaced_[{claim.package, winner->package}];
      replaced.loser = packages_[claim.package];
      replaced.winner = packages_[winner->package];
      if (++replaced.count <= kMostShown) replaced.files.push_back(path);
    }
  }

  // By the size alone: to hash what an image holds would take longer than all else.
  void Measure(const std::string& path, const Claim& claim) {
    if (claim.size == 0 || SizeOf(path) == claim.size) return;
    ChangedFiles& changed = changed_[claim.package];
    changed.package = packages_[claim.package];
    if (++changed.count <= kMostShown) changed.files.push_back(path);
  }

  const std::vector<Package>& packages_;
  std::map<std::string, std::vector<Claim>> claims_;  // by path
  std::map<std::size_t, std::size_t> there_;
  std::map<std::pair<std::size_t, std::size_t>, ReplacedFiles> replaced_;
  std::map<std::size_t, ChangedFiles> changed_;
  std::map<std::size_t, GoneFiles> gone_;
  std::size_t gone_files_ = 0;  // in all of gone_
  std::uintmax_t hashed_ = 0;
};

}  // namespace

bool IsAsRecorded(const std::string& path, const RecordedFile& record, std::uintmax_t* may_read) {
  const std::optional<std::string> hash = HexOf(record.hash);
  const std::uintmax_t size = SizeOf(path);
  if (!hash || size != record.size || size > *may_read) return false;
  *may_read -= size;
  const Result<std::string> bytes = ReadFile(path, size);
  return bytes && Sha256Hex(*bytes) == *hash;
}

RecordConflicts FindRecordConflicts(const std::vector<Package>& packages) { return Finder(packages).Run(); }

}  // namespace cudnn_ci
