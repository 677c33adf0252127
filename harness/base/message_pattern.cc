#include "base/message_pattern.h"

#include <algorithm>

namespace cudnn_ci {

std::vector<std::string> QuotedParts(const std::string& markdown) {
  std::vector<std::string> parts;
  for (size_t begin = markdown.find('`'); begin != std::string::npos;) {
    const size_t end = markdown.find('`', begin + 1);
    if (end == std::string::npos) break;
    parts.push_back(markdown.substr(begin + 1, end - begin - 1));
    begin = markdown.find('`', end + 1);
  }
  return parts;
}

PatternMatch MatchPattern(std::string_view text, std::string_view pattern) {
  PatternMatch match;
  size_t from = 0;
  while (!pattern.empty()) {
    const size_t gap = std::min(pattern.find('*'), pattern.find("..."));
    const std::string_view piece = pattern.substr(0, gap);
    const size_t at = text.find(piece, from);
    if (at == std::string_view::npos) return {};
    if (match.letters == 0) match.begin = at;
    from = at + piece.size();
    match.letters += piece.size();
    pattern = gap == std::string_view::npos ? "" : pattern.substr(gap + (pattern[gap] == '*' ? 1 : 3));
  }
  return match;
}

}  // namespace cudnn_ci
