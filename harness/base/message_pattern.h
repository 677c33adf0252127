// Patterns of the messages that other programs print, as knowledge/findings writes them.
#ifndef CUDNN_CI_BASE_MESSAGE_PATTERN_H_
#define CUDNN_CI_BASE_MESSAGE_PATTERN_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// What stands between backquotes in Markdown, in its order.
std::vector<std::string> QuotedParts(const std::string& markdown);

struct PatternMatch {
  size_t letters = 0;  // of the pattern, without its wildcards; 0: no match
  size_t begin = 0;    // of the text
};

// Whether no word goes across this place of the text. Letters and digits of ASCII, _ and # (which may stand
// for a number) make words. `at` may be the text's end.
bool IsWordBorder(std::string_view text, size_t at);

enum class MatchEnds { kAnywhere, kAtWordBorders };  // where a pattern may begin and end in a text

// Whether the text has the pattern's pieces, in this order; "*" and "..." in the pattern stand for anything,
// also for a part of a word. Byte by byte. An empty pattern matches nothing.
PatternMatch MatchPattern(std::string_view text, std::string_view pattern,
                          MatchEnds ends = MatchEnds::kAnywhere);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_MESSAGE_PATTERN_H_
