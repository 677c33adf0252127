#include "image/symbols/symbols_statements.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace cudnn_ci {
namespace {

// Statements of which the rest of the line is a part.
constexpr std::string_view kBlocks[] = {"if",     "elif", "else",  "for",   "while", "with", "try",
                                        "except", "def",  "class", "async", "match", "case", "finally"};

bool IsNamePart(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::size_t SkipSpaces(std::string_view line, std::size_t at) {
  return std::min(line.find_first_not_of(" \t", at), line.size());
}

std::string_view WordAt(std::string_view line, std::size_t at) {
  std::size_t end = at;
  while (end < line.size() && IsNamePart(line[end])) ++end;
  return line.substr(at, end - at);
}

// "a.b.c" from `*at` on, which it leaves.
std::string_view TakeDotted(std::string_view line, std::size_t* at) {
  const std::size_t begin = *at;
  while (*at < line.size() && (IsNamePart(line[*at]) || line[*at] == '.')) ++*at;
  return line.substr(begin, *at - begin);
}

// Where one of `ends` stands from `at` on, outside of texts and brackets; or the line's end.
std::size_t FindOutside(std::string_view line, std::size_t at, std::string_view ends) {
  int depth = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (depth == 0 && ends.find(c) != std::string_view::npos) return at;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != '"' && c != '\'') continue;
    for (++at; at < line.size() && line[at] != c; ++at)
      if (line[at] == '\\') ++at;
  }
  return line.size();
}

// Of a call's arguments and what stands behind them, the first, if it is a text and the rest is plain.
std::optional<std::string> FirstText(std::string_view line, std::size_t at) {
  at = SkipSpaces(line, at);
  if (at >= line.size() || (line[at] != '"' && line[at] != '\'')) return std::nullopt;
  const std::size_t end = line.find(line[at], at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = line.substr(at + 1, end - at - 1);
  const std::size_t next = SkipSpaces(line, end + 1);
  const std::size_t close = line.find(')', next);
  if (next >= line.size() || close == std::string_view::npos || (line[next] != ',' && next != close))
    return std::nullopt;
  const std::string_view further = line.substr(next, close - next),
                         rest = line.substr(SkipSpaces(line, close + 1));
  const bool plain = further.find_first_of("([{") == std::string_view::npos &&
                     further.find(" if ") == std::string_view::npos && (rest.empty() || rest == "\r");
  return plain ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<PlainCall> CallOf(std::string_view statement) {
  std::size_t at = SkipSpaces(statement, 0);
  std::string_view called = TakeDotted(statement, &at);
  for (;;) {
    at = SkipSpaces(statement, at);
    if (at < statement.size() && statement[at] == ':') at = FindOutside(statement, at, "=");
    if (at >= statement.size() || statement[at] != '=') break;
    at = SkipSpaces(statement, at + 1);
    called = TakeDotted(statement, &at);
  }
  if (called.empty() || at >= statement.size() || statement[at] != '(') return std::nullopt;
  std::optional<std::string> text = FirstText(statement, at + 1);
  if (!text || text->empty()) return std::nullopt;
  const std::size_t last = called.rfind('.') + 1;  // 0 without one
  return PlainCall{std::string(called.substr(0, called.find('.'))), std::string(called.substr(last)), *text};
}

bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if ((at == 0 || !IsNamePart(text[at - 1])) && WordAt(text, at) == word) return true;
  return false;
}

}  // namespace

std::vector<PlainCall> PlainCallsIn(std::string_view line) {
  std::vector<PlainCall> calls;
  if (std::find(std::begin(kBlocks), std::end(kBlocks), WordAt(line, 0)) != std::end(kBlocks)) return calls;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = FindOutside(line, at, ";");
    if (std::optional<PlainCall> call = CallOf(line.substr(at, end - at))) calls.push_back(std::move(*call));
    at = end + 1;
  }
  return calls;
}

bool IsBoundByTheSource(std::string_view source, const std::string& name) {
  bool imports = false;  // within the brackets of `from .native import (`
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    const std::string_view text = line.substr(SkipSpaces(line, 0));
    const bool outermost = text.data() == line.data();
    at = end + 1;
    const bool begins_import = text.starts_with("from .");
    if ((begins_import || imports) && HasWord(text, name)) return true;
    const std::size_t open = text.find('('), close = text.find(')');
    imports =
        (imports || (begins_import && open != std::string_view::npos)) && close == std::string_view::npos;
    if (!outermost) continue;
    if (text.starts_with("class ") && WordAt(text, SkipSpaces(text, 6)) == name) return true;
    if (WordAt(text, 0) != name) continue;
    const std::size_t next = SkipSpaces(text, name.size());
    if (next < text.size() && (text[next] == ':' || (text[next] == '=' && text.substr(next, 2) != "==")))
      return true;
  }
  return false;
}

}  // namespace cudnn_ci
