// Dotted versions and ranges: ">=12.0 <13", ">=525.60.13", "9.19.0" (exactly), "absent".
#ifndef CUDNN_CI_MODEL_VERSION_H_
#define CUDNN_CI_MODEL_VERSION_H_

#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

// Up to 16 numbers of up to 9 digits between dots: "535.104.05". Missing parts count as 0: 12 = 12.0
// = 12.0.0.
struct Version {
  std::vector<int> parts;
};
std::optional<Version> ParseVersion(const std::string& text);
int Compare(const Version& a, const Version& b);  // <0, 0, >0

// Terms separated by blanks, all of which must hold: >=V >V <=V <V =V !=V V. "absent" is no range.
struct VersionRange {
  struct Term {
    std::string op;  // one of ">=", ">", "<=", "<", "=", "!="
    Version version;
  };
  std::vector<Term> terms;
};
// On failure *error says which part is wrong.
std::optional<VersionRange> ParseRange(const std::string& text, std::string* error);
bool Contains(const VersionRange& range, const Version& version);
// Whether there is a version that the range contains: ">=600 <500" has none.
bool IsSatisfiable(const VersionRange& range);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_VERSION_H_
