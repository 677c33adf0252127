#include "image/baked_versions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/knowledge_words.h"
#include "base/path.h"
#include "common/knowledge_rows.h"
#include "image/elf/elf_object.h"

namespace cudnn_ci {
namespace {

using Row = nlohmann::json;
using Release = std::array<int, 3>;
using Why = BakedDifference::Why;

std::string Dotted(const Release& release) {
  return std::to_string(release[0]) + "." + std::to_string(release[1]) + "." + std::to_string(release[2]);
}

// The first three numbers of "3.7.2" and "3.4.5-1"; zeros: it has none.
Release ReleaseOf(const std::string& text) {
  Release release = {0, 0, 0};
  const char* at = text.c_str();
  for (int& part : release) {
    char* end = nullptr;
    part = static_cast<int>(std::strtol(at, &end, 10));
    if (end == at || *end != '.') break;
    at = end + 1;
  }
  return release;
}

// Three numbers of 32 bits; zeros: the file has no such object.
Release CompiledIn(const std::string& file, const std::string& object) {
  Release release = {0, 0, 0};
  const std::string bytes = ElfObjectBytes(file, object, sizeof release);
  if (bytes.size() == sizeof release) memcpy(release.data(), bytes.data(), sizeof release);
  return release;
}

// That of a library, by who brought it, else by its name.
Release ReleaseOfFile(const ImageFiles& image, const std::string& file) {
  if (const Package* owner = image.packages.OwnerOf(file)) return ReleaseOf(owner->version);
  const std::string real = RealPath(file), name = real.substr(real.rfind('/') + 1);
  const std::size_t number = name.find(".so.");
  return number == std::string::npos ? Release{} : ReleaseOf(name.substr(number + 4));
}

// Why they do not go together; none: they do.
std::optional<Why> Objection(const Row& row, const Release& inside, const Release& taken) {
  if (inside[0] != taken[0]) return Why::kOtherMajor;
  if (inside[1] > taken[1]) return Why::kNewerMinor;
  const Release changed = ReleaseOf(TextOf(row, "changed_in"));
  if (changed[0] != 0 && (inside < changed) != (taken < changed)) return Why::kFromBeforeAChange;
  return {};
}

}  // namespace

std::string BakedDifference::Text() const {
  std::string text = file + (owner.empty() ? "" : " (" + owner + ")") + " contains " + title + " " + inside +
                     ", but the loader takes " + library + " of " + taken + ": ";
  switch (why) {
    case Why::kOtherMajor:
      return text + "the major versions differ";
    case Why::kNewerMinor:
      return text + "the library is from an older minor release and refuses it";
    case Why::kFromBeforeAChange:
      break;
  }
  return text + changed_in + " has changed what both share";
}

std::vector<BakedDifference> BakedVersionsThatDiffer(const ImageFiles& image, const TableEntry& entry,
                                                     LoaderFiles* files) {
  std::vector<BakedDifference> differing;
  std::set<std::string> said;
  for (const Row& row : KnowledgeRows<Row>(entry, kKnowledgeBaked))
    for (const ImageFile& file : image.files) {
      const LoaderFiles::File opened = files->Open(file.path);
      if (!opened.table) continue;
      const auto& needed = opened.table->needed;
      const std::string stem = TextOf(row, "file");
      const auto wanted = std::find_if(needed.begin(), needed.end(),
                                       [&](const std::string& name) { return LibraryStem(name) == stem; });
      if (wanted == needed.end()) continue;
      const Release inside = CompiledIn(file.path, TextOf(row, "object"));
      if (inside[0] == 0) continue;
      LoaderScope scope(files, "");
      scope.Open(file.path);
      const int at = scope.Named(*wanted);
      if (at < 0) continue;
      const std::string path = Normal(scope.loaded()[at].file.path);
      const Release taken = ReleaseOfFile(image, path);
      const std::optional<Why> why = taken[0] == 0 ? std::nullopt : Objection(row, inside, taken);
      std::string owner = image.BroughtBy(file.path);
      if (!why || !said.insert(owner + path).second) continue;
      differing.push_back({file.path, std::move(owner), TextOf(row, "title"), Dotted(inside), path,
                           Dotted(taken), *why, TextOf(row, "changed_in")});
    }
  return differing;
}

}  // namespace cudnn_ci
