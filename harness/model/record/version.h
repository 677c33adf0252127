// Dotted versions and ranges: ">=12.0 <13", ">=525.60.13", "9.19" (that series), "==9.19.0" (exactly),
// "8.0 or 8.9" (one of the series), "absent".
#ifndef CUDNN_CI_MODEL_RECORD_VERSION_H_
#define CUDNN_CI_MODEL_RECORD_VERSION_H_

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

// Terms separated by blanks, all of which must hold: >=V >V <=V <V ==V =V !=V V. "absent" is not a range. A
// bare version is the series that it begins: 12 is >=12 <13, 8.9 is >=8.9 <8.10, 9.12.1 is >=9.12.1 <9.12.2.
struct VersionRange {
  struct Term {
    std::string op;  // one of ">=", ">", "<=", "<", "=", "!="
    Version version;
  };
  std::vector<Term> terms;
  std::vector<Version> any_of;  // instead of terms: the versions between "or"
};
// On failure *error says which part is wrong.
std::optional<VersionRange> ParseRange(const std::string& text, std::string* error);
// The same range as bounds, for whoever reads or takes apart its text: ">=12 <13" of "12".
std::string InBounds(const std::string& text);
bool Contains(const VersionRange& range, const Version& version);
// Whether there is a version that the range contains: ">=600 <500" has none.
bool IsSatisfiable(const VersionRange& range);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_VERSION_H_
