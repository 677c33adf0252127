#include "base/message_pattern.h"

#include <algorithm>

namespace cudnn_ci {
namespace {

bool IsOfWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '#';
}

}  // namespace

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

bool IsWordBorder(std::string_view text, size_t at) {
  return at == 0 || at >= text.size() || !IsOfWord(text[at - 1]) || !IsOfWord(text[at]);
}

PatternMatch MatchPattern(std::string_view text, std::string_view pattern, MatchEnds ends) {
  PatternMatch match;
  size_t from = 0;
  for (bool first = true; !pattern.empty(); first = false) {
    const size_t gap = std::min(pattern.find('*'), pattern.find("..."));
    const std::string_view piece = pattern.substr(0, gap);
    const bool last = gap == std::string_view::npos;
    const auto fits = [&](size_t at) {
      return ends == MatchEnds::kAnywhere || piece.empty() ||
             ((!first || IsWordBorder(text, at)) && (!last || IsWordBorder(text, at + piece.size())));
    };
    size_t at = text.find(piece, from);
    while (at != std::string_view::npos && !fits(at)) at = text.find(piece, at + 1);
    if (at == std::string_view::npos) return {};
    if (match.letters == 0) match.begin = at;
    from = at + piece.size();
    match.letters += piece.size();
    pattern = last ? "" : pattern.substr(gap + (pattern[gap] == '*' ? 1 : 3));
  }
  return match;
}

}  // namespace cudnn_ci
