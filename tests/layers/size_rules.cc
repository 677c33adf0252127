#include "size_rules.h"

#include <algorithm>
#include <regex>

namespace cudnn_ci {
namespace {

constexpr int kFileLines = 400, kPolicyFileLines = 300, kFunctionLines = 60;

// The runner's policy is to be read in one sitting.
constexpr std::string_view kPolicy = "harness/exec/";

int LinesOf(std::string_view text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

// The offset behind the literal that begins at text[at].
size_t LiteralEnd(std::string_view text, size_t at) {
  if (text[at] == '"' && at > 0 && text[at - 1] == 'R') {
    const size_t open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
    const size_t end = text.find(close, open);
    return end == std::string_view::npos ? text.size() : end + close.size();
  }
  for (size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at]) {
      return i + 1;
    }
  }
  return at + 1;
}

// Between digits, as in 10'000.
bool IsDigitSeparator(std::string_view text, size_t at) {
  return text[at] == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;
}

// Whether a preprocessor line begins at text[at], behind blanks.
bool BeginsPreprocessorLine(std::string_view text, size_t at) {
  if (text[at] != '#') return false;
  const size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t", at - 1);
  return before == std::string_view::npos || text[before] == '\n';
}

// The end of the line, or of the last one that a backslash joins to it.
size_t JoinedLineEnd(std::string_view text, size_t at) {
  size_t end = text.find('\n', at);
  while (end != std::string_view::npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

enum class Scope { kTransparent, kFunction, kOther };

// What a bracket opens, by the text since the last statement or bracket.
Scope Classify(const std::string& head) {
  static const std::regex kNamed(R"((^|\s)(namespace|class|struct|union|enum|extern)(\s|$))");
  // The rest of a constructor's list of initialisers, "a_{1}, b_{2} {".
  const size_t first = head.find_first_not_of(" \t\n");
  if (first == std::string::npos || head[first] == ',') return Scope::kFunction;
  // A macro's call without a semicolon may stand before it.
  const size_t parenthesis = head.rfind(')');
  if (std::regex_search(parenthesis == std::string::npos ? head : head.substr(parenthesis + 1), kNamed))
    return Scope::kTransparent;
  return parenthesis != std::string::npos ? Scope::kFunction : Scope::kOther;
}

// The offset of the bracket that closes the one at `open`.
size_t Closing(std::string_view code, size_t open) {
  int depth = 0;
  for (size_t i = open; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i;
  }
  return code.size();
}

std::string LastLine(std::string_view head) {
  const size_t line = head.rfind('\n');
  const std::string_view last = line == std::string_view::npos ? head : head.substr(line + 1);
  const size_t first = last.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string() : std::string(last.substr(first)) + "{";
}

}  // namespace

std::string CodeOf(std::string_view text) {
  std::string code(text);
  const auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i;
    if (BeginsPreprocessorLine(text, i)) {
      end = JoinedLineEnd(text, i);
    } else if (text.substr(i, 2) == "//") {
      end = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    } else if ((text[i] == '"' || text[i] == '\'') && !IsDigitSeparator(text, i)) {
      end = LiteralEnd(text, i);
    }
    if (end == i) continue;
    blank(i, end);
    i = end - 1;
  }
  return code;
}

std::vector<FunctionSize> FunctionsOf(std::string_view text) {
  std::vector<FunctionSize> functions;
  const std::string code = CodeOf(text);
  size_t begin = 0;  // of the text since the last statement or bracket
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] == ';' || code[i] == '}') begin = i + 1;
    if (code[i] != '{') continue;
    const std::string head = code.substr(begin, i - begin);
    const Scope scope = Classify(head);
    if (scope != Scope::kTransparent) {
      const size_t end = Closing(code, i);
      const size_t first = std::min(code.find_first_not_of(" \t\n", begin), i);
      const int before = LinesOf(std::string_view(code).substr(0, first));
      const int lines = LinesOf(std::string_view(code).substr(first, end - first)) + 1;
      if (scope == Scope::kFunction) functions.push_back({LastLine(head), before + 1, lines});
      i = end;
    }
    begin = i + 1;
  }
  return functions;
}

std::vector<std::string> TooLong(std::string_view path, std::string_view text) {
  std::vector<std::string> problems;
  const int limit = path.substr(0, kPolicy.size()) == kPolicy ? kPolicyFileLines : kFileLines;
  const std::string where(path);
  if (LinesOf(text) > limit)
    problems.push_back(where + ": " + std::to_string(LinesOf(text)) + " lines, at most " +
                       std::to_string(limit));
  for (const FunctionSize& f : FunctionsOf(text)) {
    if (f.lines <= kFunctionLines) continue;
    problems.push_back(where + ":" + std::to_string(f.line) + ": a function of " + std::to_string(f.lines) +
                       " lines, at most " + std::to_string(kFunctionLines) + ": " + f.head);
  }
  return problems;
}

}  // namespace cudnn_ci
