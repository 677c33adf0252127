#include "model/partial.h"

#include <string_view>

namespace cudnn_ci {
namespace {

struct Reason {
  std::string_view code, words;
};
constexpr Reason kReasons[] = {{"filtered", kPartialFiltered},        {"shard", kPartialShard},
                               {"static-stage", kPartialStatic},      {"without-disturb", kPartialDisturb},
                               {"isolation-none", kPartialIsolation}, {"rerun", kPartialRerun}};

// Whether one of the reasons in a text begins so. The names of checks in brackets have a point and so are
// none.
bool Has(std::string_view text, std::string_view words) {
  if (text.substr(0, words.size()) == words) return true;
  return text.find(std::string(", ").append(words)) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> PartialCodes(const std::string& words) {
  std::vector<std::string> codes;
  for (const Reason& reason : kReasons)
    if (Has(words, reason.words)) codes.emplace_back(reason.code);
  // A partial run must not look whole to who reads the codes alone.
  if (codes.empty() && !words.empty()) codes.emplace_back("other");
  return codes;
}

}  // namespace cudnn_ci
