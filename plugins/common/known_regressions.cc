#include "common/known_regressions.h"

#include <cudnn_ci/facts.h>

#include <sstream>

namespace cudnn_ci {
namespace {

// "operation=forward dtype=float16,bfloat16"
Predicates Parse(const std::string& text) {
  Predicates hits;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    std::vector<std::string>& values = hits[word.substr(0, equals)];
    std::istringstream list(equals == std::string::npos ? "" : word.substr(equals + 1));
    for (std::string value; std::getline(list, value, ',');) values.push_back(value);
  }
  return hits;
}

// Another library than cuDNN stands before what it hits, where a plugin that knows cuDNN's rows alone takes
// it for what hits none of its cases. `title`: as the harness says that messages call it.
std::string LibraryOf(const std::string& title, Predicates* hits) {
  return hits->erase("library") == 0 ? kCudnn : title;
}

bool HasRelease(const KnownRegression& row, const std::string& version, const Satisfies& satisfies) {
  if (!row.first.empty() && !satisfies(version, ">=" + row.first)) return false;
  if (!row.fixed.empty()) return satisfies(version, "<" + row.fixed);
  return row.last.empty() || satisfies(version, "<=" + row.last);
}

// What such a convolution is, "wrong in cuDNN 9.8.0".
std::string InWords(const std::string& effect) {
  if (effect == "crash") return "crashes";
  if (effect == "hang") return "hangs";
  if (effect == "overwrite") return "writes outside its tensors";
  if (effect == "failure") return "fails";
  if (effect == "memory") return "needs far more memory";
  return effect;  // wrong, refused, slow, and whatever a later table has
}

// "9.19.0"; not "", "unknown" or what an image may say in its place.
bool IsNumbered(const std::string& version) {
  return !version.empty() && version.front() != '.' && version.back() != '.' &&
         version.find("..") == std::string::npos &&
         version.find_first_not_of("0123456789.") == std::string::npos;
}

}  // namespace

std::string KnownRegression::Releases() const {
  std::string range = "all releases";
  if (!first.empty() && first == last)
    range = first;
  else if (!last.empty())
    range = (first.empty() ? "up to " : first + " to ") + last;
  else if (!first.empty())
    range = "from " + first + " on";
  if (!fixed.empty()) return range + ", fixed in " + fixed;
  return Open() ? range + ", no fix known as of " + as_of : range;
}

std::string KnownRegression::Remedy() const {
  if (!fixed.empty()) return "install " + library + " " + fixed + " or later";
  return Open() ? "" : "install a later " + library + " than " + last;
}

std::string KnownRegression::Text() const {
  const std::string remedy = Remedy();
  return "known: " + InWords(effect) + " in " + library + " " + Releases() + " (" + what + "; " + source +
         (confidence == "sure" ? "" : "; " + confidence) + ")" + (remedy.empty() ? "" : "; " + remedy);
}

std::vector<KnownRegression> KnownRegressionsOf(const std::string& version, const TableEntry& entry,
                                                const Satisfies& satisfies, const std::string& library) {
  std::vector<KnownRegression> found;
  if (!IsNumbered(version)) return found;
  const std::string as_of = entry(CCI_COMPATIBILITY_AS_OF);
  for (int i = 0;; ++i) {
    const std::string row = CCI_COMPATIBILITY_KNOWN + std::to_string(i);
    const auto at = [&](const char* key) { return entry(row + key); };
    KnownRegression r;
    r.id = at(CCI_COMPATIBILITY_KNOWN_ID);
    if (r.id.empty()) return found;
    r.hits = Parse(at(CCI_COMPATIBILITY_KNOWN_HITS));
    r.library = LibraryOf(at(CCI_COMPATIBILITY_KNOWN_LIBRARY), &r.hits);
    if (r.library != library) continue;
    r.first = at(CCI_COMPATIBILITY_KNOWN_FIRST);
    r.last = at(CCI_COMPATIBILITY_KNOWN_LAST);
    r.fixed = at(CCI_COMPATIBILITY_KNOWN_FIXED);
    if (!HasRelease(r, version, satisfies)) continue;
    r.what = at(CCI_COMPATIBILITY_KNOWN_WHAT);
    r.effect = at(CCI_COMPATIBILITY_KNOWN_EFFECT);
    r.source = at(CCI_COMPATIBILITY_KNOWN_SOURCE);
    r.confidence = at(CCI_COMPATIBILITY_KNOWN_CONFIDENCE);
    r.as_of = as_of;
    found.push_back(r);
  }
}

bool FitsGpu(const Predicates& hits, const std::string& compute_capability, const Satisfies& satisfies) {
  const auto fits = [&](const char* key, const char* relation) {
    const auto limit = hits.find(key);
    if (limit == hits.end()) return true;
    return !compute_capability.empty() && limit->second.size() == 1 &&
           satisfies(compute_capability, relation + limit->second.front());
  };
  return fits("compute_capability_min", ">=") && fits("compute_capability_max", "<=");
}

}  // namespace cudnn_ci
