#include "message_rules.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "size_rules.h"

namespace cudnn_ci {
namespace {

// What a message is called. `text` is one as a member only: a local of that name is what a parser reads.
constexpr std::array<std::string_view, 22> kMessages = {
    "detail",  "reason",  "why",     "why_not",  "sentence",  "message",       "need", "seen",
    "remedy",  "summary", "warning", "problem",  "words",     "evidence",      "what", "notice",
    "refused", "not_run", "failure", "warnings", "not_gated", "report_failure"};
constexpr std::array<std::string_view, 11> kSearches = {"find",
                                                        "rfind",
                                                        "find_first_of",
                                                        "find_last_of",
                                                        "find_first_not_of",
                                                        "find_last_not_of",
                                                        "starts_with",
                                                        "ends_with",
                                                        "contains",
                                                        "compare",
                                                        "search"};

template <size_t N>
bool Has(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The word that ends before `end`.
std::string_view WordBefore(std::string_view code, size_t end) {
  size_t begin = end;
  while (begin > 0 && IsWordChar(code[begin - 1])) --begin;
  return code.substr(begin, end - begin);
}

bool IsMemberAt(std::string_view code, size_t begin) {
  return begin > 0 && (code[begin - 1] == '.' || (begin > 1 && code.substr(begin - 2, 2) == "->"));
}

bool IsMessage(std::string_view code, std::string_view word) {
  const auto begin = static_cast<size_t>(word.data() - code.data());
  return Has(kMessages, word) || (word == "text" && IsMemberAt(code, begin));
}

// Whether one of the words between the two places is such a one.
template <class Such>
bool AnyWord(std::string_view code, size_t begin, size_t end, Such such) {
  for (size_t at = begin; at < end; ++at) {
    if (!IsWordChar(code[at]) || (at > begin && IsWordChar(code[at - 1]))) continue;
    size_t stop = at;
    while (stop < end && IsWordChar(code[stop])) ++stop;
    if (such(code.substr(at, stop - at))) return true;
  }
  return false;
}

// "words", kShardWords: what a search for them looks through is a message, whatever its name.
bool AreWords(std::string_view word) {
  return word == "words" || (word.size() > 5 && word.substr(word.size() - 5) == "Words");
}

size_t OpeningOf(std::string_view code, size_t close) {
  int depth = 0;
  for (size_t at = close + 1; at-- > 0;) {
    depth += code[at] == ')' ? 1 : code[at] == '(' ? -1 : 0;
    if (depth == 0) return at;
  }
  return 0;
}

size_t ClosingOf(std::string_view code, size_t open) {
  int depth = 0;
  for (size_t at = open; at < code.size(); ++at) {
    depth += code[at] == '(' ? 1 : code[at] == ')' ? -1 : 0;
    if (depth == 0) return at;
  }
  return code.size();
}

// Whether what ends before `end`, the "." or "->" of a search, is a message: one by name, the error of a
// Result, a sentence that is just made, or an expression in brackets that holds one.
bool EndsInMessage(std::string_view code, size_t end) {
  if (end == 0) return false;
  if (code[end - 1] != ')') return IsMessage(code, WordBefore(code, end));
  const size_t open = OpeningOf(code, end - 1);
  const std::string_view function = WordBefore(code, open);
  if (function == "error" || function == "SentenceOf" || function == "PartialText") return true;
  return (function.empty() || function == "string" || function == "string_view") &&
         AnyWord(code, open, end, [&](std::string_view word) {
           return IsMessage(code, word) && IsMemberAt(code, static_cast<size_t>(word.data() - code.data()));
         });
}

bool SearchesAt(std::string_view code, size_t name, std::string_view method) {
  const size_t open = name + method.size();
  if (open >= code.size() || code[open] != '(' || !IsMemberAt(code, name)) return false;
  const size_t end = name - (code[name - 1] == '.' ? 1 : 2);
  return EndsInMessage(code, end) || AnyWord(code, open, ClosingOf(code, open), AreWords);
}

// `detail == "..."`: a message compared with a literal.
bool ComparesAt(std::string_view code, std::string_view text, size_t at) {
  if (code.substr(at, 2) != "==" && code.substr(at, 2) != "!=") return false;
  size_t end = at, literal = at + 2;
  while (end > 0 && code[end - 1] == ' ') --end;
  while (literal < text.size() && (text[literal] == ' ' || text[literal] == '\n')) ++literal;
  if (literal + 1 >= text.size() || text[literal] != '"' || text[literal + 1] == '"') return false;
  return IsMessage(code, WordBefore(code, end));
}

}  // namespace

const std::vector<MessageReader>& MessageReaders() {
  static const std::vector<MessageReader> kReaders = {
      {"harness/worker/skip_words.cc",
       "plugin.h promises that the words of `skip` tell whose memory was short"},
      {"harness/cli/worker_obstacle.cc", "the words are the loader's"},
      {"harness/cli/self_test_report.cc", "a self-test looks at what a report says"}};
  return kReaders;
}

std::vector<std::string> MessageSearches(std::string_view path, std::string_view text) {
  std::vector<std::string> found;
  const std::string code = CodeOf(text);
  int line = 1;
  for (size_t at = 0; at < code.size(); ++at) {
    if (code[at] == '\n') ++line;
    bool searches = ComparesAt(code, text, at) || code.compare(at, 12, "regex_search") == 0 ||
                    code.compare(at, 7, "strstr(") == 0;
    if (IsWordChar(code[at]) && at > 0 && !IsWordChar(code[at - 1]))
      for (const std::string_view method : kSearches)
        searches = searches || (code.compare(at, method.size(), method) == 0 && SearchesAt(code, at, method));
    if (searches)
      found.push_back(std::string(path) + ":" + std::to_string(line) +
                      ": searches a message: what it means belongs into a code or an argument");
  }
  return found;
}

std::vector<std::string> SearchedMessages(std::string_view path, std::string_view text) {
  const auto& readers = MessageReaders();
  const bool may = std::any_of(readers.begin(), readers.end(), [&](const auto& r) { return r.path == path; });
  if (may || path.substr(0, 8) != "harness/") return {};
  return MessageSearches(path, text);
}

}  // namespace cudnn_ci
