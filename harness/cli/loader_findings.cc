#include "cli/loader_findings.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostNamesSaid = 8;

// What stands for the names that are taken is said in part where it is long.
std::string Some(const std::set<std::string>& names) {
  std::vector<std::string> some;
  for (const std::string& name : names)
    if (some.size() < kMostNamesSaid) some.push_back(SingleLine(name, 80));
  const size_t more = names.size() - some.size();
  return Join(some, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

// Whether a shell pattern is the path's or its last part's.
bool IsAllowed(const std::string& path, const std::vector<std::string>& patterns) {
  const std::string last = path.substr(path.rfind('/') + 1);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return GlobMatch(pattern, path) || GlobMatch(pattern, last);
  });
}

}  // namespace

Finding FindingOf(const BlockingLibrary& library) {
  return HarnessFinding("library-not-a-file", SingleLine(library.path, 1000) + " is " + library.kind +
                                                  ", found through " + library.by +
                                                  ": the loader waits when it opens it");
}

Finding FindingOf(const Preload& preload, const std::vector<std::string>& allowed) {
  // Whoever builds the image cannot take away what is mounted.
  const char* const harmless_slug = preload.mounted.empty() ? "preloaded" : "runner-preloaded";
  const char* const slug = preload.mounted.empty() ? "preload-interposes" : "runner-preload-interposes";
  std::string detail = preload.by + " names " + SingleLine(preload.name, 1000);
  if (!preload.mounted.empty()) detail += "; " + SingleLine(preload.mounted, 1000) + " is a mount";
  if (preload.file.empty() && preload.problem.empty())
    return HarnessFinding(harmless_slug, detail + ", which the loader ignores" +
                                             (preload.ignored.empty() ? "" : ": it is " + preload.ignored));
  if (!preload.file.empty() && preload.file != preload.name) detail += ", which is " + preload.file;
  if (!preload.problem.empty()) detail += "; what it does is unknown: " + preload.problem;
  if (preload.audits) detail += "; an audit library sees and may change every call between libraries";
  if (!preload.interposed.empty())
    detail +=
        "; it defines " + Some(preload.interposed) + ", which the checks' processes take from the C library";
  const bool harmless = preload.problem.empty() && !preload.audits && preload.interposed.empty();
  if (harmless && preload.own)
    return HarnessFinding(harmless_slug, detail + "; it is the C library itself, which is loaded anyway");
  if (harmless && !preload.of_cuda.empty())
    return HarnessFinding(harmless_slug, detail +
                                             "; the checks use none of its functions; programs of the image "
                                             "use it instead of CUDA for " +
                                             Some(preload.of_cuda));
  if (harmless) return HarnessFinding(harmless_slug, detail + "; it replaces no function");
  if (IsAllowed(preload.name, allowed) || (!preload.file.empty() && IsAllowed(preload.file, allowed)))
    return HarnessFinding(harmless_slug, detail + "; \"allow_preload\" of the matrix allows it");
  return HarnessFinding(slug, detail);
}

Finding FindingOf(const ForeignDriver& driver, const std::vector<std::string>& allowed) {
  const bool meant = IsAllowed(driver.file, allowed);
  return HarnessFinding(meant ? "driver-library-allowed" : "driver-library-of-image", driver.why);
}

}  // namespace cudnn_ci
