// Majors against ranges of versions.
#include "common/promise.h"

#include <algorithm>
#include <sstream>

namespace cudnn_ci {
namespace {

// A version has at most 16 parts; a bound that is nearly that long is compared as it stands.
constexpr size_t kLongBound = 20;

}  // namespace

// A range that holds a version of the major holds its first one, the one behind it (where the first is
// excluded), a bound of the range, or the one behind a bound: between two versions there is always another.
bool Promise::OfMajor(int major) const {
  if (range.empty()) return true;
  const std::string first = std::to_string(major);
  std::vector<std::string> candidates = {first};
  std::istringstream terms(range);
  for (std::string term; terms >> term;) {
    const std::string bound = term.substr(std::min(term.find_first_of("0123456789"), term.size()));
    if (bound.substr(0, bound.find('.')) == first) candidates.push_back(bound);
  }
  return std::any_of(candidates.begin(), candidates.end(), [&](const std::string& version) {
    return satisfies(version, range) ||
           (version.size() < kLongBound && satisfies(version + ".0.0.0.1", range));
  });
}

std::vector<int> PromisedFirst(const Promise& promise, std::vector<int> majors) {
  std::stable_partition(majors.begin(), majors.end(), [&](int major) { return promise.OfMajor(major); });
  return majors;
}

}  // namespace cudnn_ci
