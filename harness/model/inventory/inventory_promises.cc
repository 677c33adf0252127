#include "model/inventory/inventory_promises.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

// What is found: in words, and as versions, all of which must lie in the range.
struct Found {
  std::string words;
  std::vector<std::string> versions;
  bool known = true;    // false: there may be more than was seen
  bool present = true;  // false: there is none
};

std::optional<bool> Fits(const std::string& range_text, const Found& found) {
  if (range_text == "absent") return !found.present;
  if (!found.present) return found.known ? std::optional<bool>(false) : std::nullopt;
  std::string ignored;
  const std::optional<VersionRange> range = ParseRange(range_text, &ignored);
  if (!range || found.versions.empty()) return std::nullopt;
  bool fits = true;
  for (const std::string& text : found.versions) {
    const std::optional<Version> version = ParseVersion(text);
    if (!version) return std::nullopt;
    fits = fits && Contains(*range, *version);
  }
  return fits;
}

Found Capabilities(const HostFacts& host) {
  std::set<std::string> different;
  for (const GpuFacts& gpu : host.gpus) different.insert(gpu.compute_capability);
  if (different.empty()) return {"no GPU", {}, host.gpus_known, false};
  const std::vector<std::string> all(different.begin(), different.end());
  return {Join(all, ", "), all};
}

Found OfRunner(const std::string& promise, const HostFacts& host, bool has_driver) {
  if (promise == "runner.driver") {
    if (!host.driver_version.empty()) return {host.driver_version, {host.driver_version}};
    return has_driver ? Found{"a driver of unknown version", {}} : Found{"no driver", {}, true, false};
  }
  if (promise == "runner.compute_capability") return Capabilities(host);
  const std::string count = std::to_string(host.gpus.size());
  return host.gpus_known ? Found{count, {count}} : Found{"unknown", {}};
}

Found OfImage(const std::string& promise, const SubjectView& view) {
  const bool cudnn = promise == "image.cudnn";
  const std::string& version = cudnn ? view.cudnn_version : view.toolkit_version;
  const std::string& path = cudnn ? view.cudnn_path : view.toolkit_path;
  if (!path.empty()) {
    if (version.empty()) return {"unknown version at " + path, {}};
    return {version, {version}};
  }
  // NVRTC alone tells a version too, and is no runtime.
  return {version.empty() ? "not found" : "no CUDA runtime, NVRTC " + version, {}, true, false};
}

}  // namespace

std::vector<FoundPromise> Compare(const std::map<std::string, std::string>& contract, const HostFacts& host,
                                  bool has_driver, const std::vector<SubjectView>& subjects) {
  std::vector<FoundPromise> promises;
  const auto add = [&](const std::string& promise, const std::string& range, const std::string& subject,
                       const Found& found) {
    promises.push_back({promise, range, subject, found.words, Fits(range, found)});
  };
  for (const auto& [promise, range] : contract) {
    if (promise.compare(0, 7, "runner.") == 0) {
      add(promise, range, "", OfRunner(promise, host, has_driver));
      continue;
    }
    for (const SubjectView& view : subjects)
      if (view.judged) add(promise, range, view.subject.name, OfImage(promise, view));
  }
  return promises;
}

}  // namespace cudnn_ci
