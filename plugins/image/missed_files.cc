#include "image/missed_files.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "image/elf/elf_file.h"
#include "image/packages/python_metadata.h"
#include "image/symbols/symbols_remedy.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostSources = 3000, kMostSourceBytes = std::size_t{64} << 20;
constexpr std::size_t kMostSource = std::size_t{2} << 20, kMostObjects = 20000;

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "_C" of "pkg/_C.abi3.so".
std::string StemOf(const std::string& path) {
  const std::string name = NameOf(path);
  return name.substr(0, name.find('.'));
}

bool IsExtensionName(const std::string& name) {
  return name.find(".cpython-") != std::string::npos || name.find(".abi3.") != std::string::npos;
}

// "tests/x.py", "pkg/_test_runner.py".
bool IsOfTests(std::string below) {
  std::replace_if(
      below.begin(), below.end(), [](char c) { return c == '_' || c == '.'; }, '/');
  const std::vector<std::string> words = Split(below, '/');
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "test" || word == "tests" || word == "testing" || word == "conftest";
  });
}

bool IsWordPart(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Which of the words a source has, each with the first source that does.
void FindWords(const std::string& path, const std::set<std::string>& words,
               std::map<std::string, std::string>* found, std::size_t* left) {
  const Result<std::string> text = ReadFile(path, std::min(kMostSource, *left));
  if (!text) return;
  *left -= text->size();
  for (std::size_t at = 0; at < text->size();) {
    while (at < text->size() && !IsWordPart((*text)[at])) ++at;
    const std::size_t begin = at;
    while (at < text->size() && IsWordPart((*text)[at])) ++at;
    if (auto word = words.find(text->substr(begin, at - begin)); word != words.end())
      found->emplace(*word, path);
  }
}

}  // namespace

// What of the package is there.
struct MissedFiles::Remains {
  std::string folder;                        // that it is installed into
  std::vector<VariantName> objects;          // shared objects, by their paths below the folder
  std::map<std::string, std::string> needs;  // what these need, each with the first that does
  std::vector<std::string> sources;          // without those of tests

  Remains(const ::cudnn_ci::Package& package, const MachineWords& machines)
      : folder(DirectoryOf(package.records) + "/") {
    (void)ForEachFileOf(package, [&](const std::string& path) {
      const bool source = path.ends_with(".py");
      if ((!source && NameOf(path).find(".so") == std::string::npos) || !Exists(path)) return;
      const std::string below = Below(path);
      if (source) {
        if (sources.size() < kMostSources && !IsOfTests(below)) sources.push_back(path);
      } else if (objects.size() < kMostObjects) {
        objects.push_back(VariantOf(below, machines));
        for (const std::string& needed : ElfFile(path).Needed()) needs.emplace(needed, path);
      }
    });
  }

  std::string Below(const std::string& path) const {
    const std::string normal = Normal(path);
    return normal.starts_with(folder) ? normal.substr(folder.size()) : NameOf(normal);
  }

  std::map<std::string, std::string> Naming(const std::set<std::string>& words) const {
    std::map<std::string, std::string> found;
    std::size_t left = kMostSourceBytes;
    for (const std::string& source : sources) FindWords(source, words, &found, &left);
    return found;
  }
};

MissedFiles::MissedFiles(const ImageFiles& image, const SymbolRules& rules)
    : rules_(rules), torch_(TorchOf(image.folders)) {}

bool MissedFiles::IsOpened(const std::string& below) const {
  const std::size_t slash = below.rfind('/');
  if (slash == std::string::npos) return false;
  const std::string folder = below.substr(0, slash);
  for (const PackageRule& rule : rules_.packages)
    for (const auto* steps : {&rule.first, &rule.main, &rule.later})
      for (const OpenStep& step : *steps)
        if (step.need != StepNeed::kTried && GlobMatch(step.name, NameOf(below)) &&
            std::find(step.folders.begin(), step.folders.end(), folder) != step.folders.end())
          return true;
  return false;
}

std::optional<bool> MissedFiles::IsMissedVariant(const std::string& below, const Remains& remains) const {
  const VariantName name = VariantOf(below, rules_.machines);
  bool left = false, fitting = false;
  for (const VariantName& other : remains.objects) {
    // "libx.so" beside "libx_cu12.so" is for one CUDA too.
    const bool numbered = other.marks.size() == 1 && other.marks[0].machine == MachineKind::kCuda &&
                          !other.marks[0].number.empty();
    const bool same = name.marks.empty() ? numbered && other.key == name.key + "_#" : other.key == name.key;
    left = left || same;
    fitting = fitting || (same && FitOf(other, torch_) == VariantFit::kFits);
  }
  if (name.marks.empty()) return left ? std::optional(!fitting && !torch_.version.empty()) : std::nullopt;
  switch (FitOf(name, torch_)) {
    case VariantFit::kOther:
      return false;
    case VariantFit::kFits:
      return !fitting;
    case VariantFit::kUnknown:
      break;
  }
  return left ? std::optional(false) : std::nullopt;
}

std::vector<MissedFile> MissedFiles::Of(const GoneFiles& gone) const {
  const Remains remains(gone.package, rules_.machines);
  std::vector<MissedFile> missed;
  std::vector<std::string> others;
  std::set<std::string> words;
  for (const std::string& path : gone.files) {
    const std::string below = remains.Below(path);
    const auto needs = remains.needs.find(NameOf(path));
    const std::optional<bool> variant = IsMissedVariant(below, remains);
    const bool is_module = below == NameOf(path) && IsExtensionName(below);
    if (needs != remains.needs.end()) {
      missed.push_back({path, needs->second});
    } else if (IsOpened(below) || variant.value_or(is_module)) {
      missed.push_back({path, ""});
    } else if (!variant) {
      others.push_back(path);
      words.insert(StemOf(path));
    }
  }
  const std::map<std::string, std::string> named = remains.Naming(words);
  for (const std::string& path : others)
    if (const auto source = named.find(StemOf(path)); source != named.end())
      missed.push_back({path, source->second});
  return missed;
}

}  // namespace cudnn_ci
