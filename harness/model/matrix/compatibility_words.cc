#include "model/matrix/compatibility_words.h"

#include "model/record/version.h"

namespace cudnn_ci {

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == std::string::npos;
}

bool IsPackage(const std::string& text) {
  const size_t dash = text.find('-');
  return dash != std::string::npos && IsNumber(text.substr(0, dash)) && IsNumber(text.substr(dash + 1));
}

bool IsVersion(const std::string& text) { return ParseVersion(text).has_value(); }

bool IsSoname(const std::string& text) {
  constexpr size_t kMaxSoname = 120;
  return text.size() <= kMaxSoname && text.compare(0, 3, "lib") == 0 &&
         text.find(".so.") != std::string::npos &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-") ==
             std::string::npos;
}

bool IsUrl(const std::string& text) { return text.compare(0, 8, "https://") == 0; }

bool Later(const std::string& a, const std::string& b) {
  return b.empty() || Compare(*ParseVersion(a), *ParseVersion(b)) > 0;
}

}  // namespace cudnn_ci
