#include "model/inventory/kernel_packages.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "model/record/notice_list.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostNamed = 12;

bool IsFor(const AdaptedPackage& adapted, const std::string& version) {
  std::string error;
  const std::optional<VersionRange> range = ParseRange(adapted.versions, &error);
  const std::optional<Version> numbers = ParseVersion(NumbersOf(version));
  return range && numbers && Contains(*range, *numbers);
}

// The package that an adapter takes in an environment: the first of its names that is installed.
const AdaptedPackage* FirstInstalled(const std::vector<AdaptedPackage>& adapted, const std::string& adapter,
                                     const Candidate& candidate, const PythonPackage** installed) {
  for (const AdaptedPackage& one : adapted) {
    if (one.adapter != adapter) continue;
    for (const PythonPackage& package : candidate.adapted)
      if (package.distribution == one.name) return *installed = &package, &one;
  }
  return nullptr;
}

void Add(const std::string& text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

void Cut(std::vector<std::string>* texts) {
  if (texts->size() <= kMostNamed) return;
  const size_t more = texts->size() - kMostNamed;
  texts->resize(kMostNamed);
  texts->push_back(std::to_string(more) + " more");
}

}  // namespace

std::optional<Notice> KernelsNotTested(const std::vector<Candidate>& candidates,
                                       const std::vector<AdaptedPackage>& adapted) {
  std::vector<std::string> packages, others, adapters;
  for (const AdaptedPackage& one : adapted) Add(one.adapter, &adapters);
  for (const Candidate& candidate : candidates)
    for (const std::string& adapter : adapters) {
      const PythonPackage* installed = nullptr;
      const AdaptedPackage* taken = FirstInstalled(adapted, adapter, candidate, &installed);
      if (taken == nullptr) continue;
      const std::string text = installed->distribution + " " + installed->version;
      if (IsFor(*taken, installed->version))
        Add(text, &packages);
      else
        Add(text + " (only for " + taken->versions + ")", &others);
    }
  if (packages.empty() && others.empty()) return std::nullopt;
  Cut(&packages), Cut(&others);
  if (packages.empty()) return Notice{NoticeCode::kKernelsNotCovered, {{"others", others}}};
  Notice notice = {NoticeCode::kKernelsNotTested, {{"packages", packages}}};
  if (!others.empty()) notice.args["others"] = others;
  return notice;
}

std::set<std::string> AdaptersFor(const Candidate& candidate, const std::vector<AdaptedPackage>& adapted) {
  std::set<std::string> adapters;
  const PythonPackage* installed = nullptr;
  for (const AdaptedPackage& one : adapted)
    if (FirstInstalled(adapted, one.adapter, candidate, &installed) != nullptr) adapters.insert(one.adapter);
  return adapters;
}

}  // namespace cudnn_ci
