#include "model/record/version.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace cudnn_ci {

namespace {

constexpr size_t kMostParts = 16;
constexpr size_t kMostDigits = 9;
constexpr int kMostNumber = 999999999;

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  for (std::string& word : Split(text, ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  return words;
}

bool Holds(const std::string& op, int order) {
  if (op == ">=") return order >= 0;
  if (op == ">") return order > 0;
  if (op == "<=") return order <= 0;
  if (op == "<") return order < 0;
  if (op == "!=") return order != 0;
  return order == 0;
}

// The operator of a term, empty before a bare version.
std::string OperatorOf(const std::string& word) {
  const std::string op = word.substr(0, word.find_first_not_of("<>=!~^"));
  return op == "==" ? "=" : op;
}

// Behind all releases of the series that a version names: 13 of 12, 8.10 of 8.9.
Version EndOfSeries(Version version) {
  ++version.parts.back();
  return version;
}

bool HasOr(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "or") != words.end();
}

// Bare versions with "or" between them.
std::optional<VersionRange> ParseSeries(const std::vector<std::string>& words, std::string* error) {
  VersionRange range;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::optional<Version> version = ParseVersion(words[i]);
    const bool fits = i % 2 == 0 ? version.has_value() : words[i] == "or";
    if (!fits || (words[i] == "or" && i + 1 == words.size())) {
      *error = "\"or\" stands between bare versions, as in \"8.0 or 8.9\"";
      return std::nullopt;
    }
    if (version) range.any_of.push_back(*version);
  }
  return range;
}

bool InSeries(const Version& version, const Version& series) {
  return Compare(version, series) >= 0 && Compare(version, EndOfSeries(series)) < 0;
}

}  // namespace

std::optional<Version> ParseVersion(const std::string& text) {
  Version version;
  for (const std::string& part : Split(text, '.')) {
    int number = 0;
    const char* end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data(), end, number);
    // from_chars takes a sign; a version has none.
    if (error != std::errc() || stop != end || part[0] == '-' || part.size() > kMostDigits)
      return std::nullopt;
    version.parts.push_back(number);
  }
  if (version.parts.size() > kMostParts) return std::nullopt;
  return version;
}

int Compare(const Version& a, const Version& b) {
  const size_t size = std::max(a.parts.size(), b.parts.size());
  for (size_t i = 0; i < size; ++i) {
    const int x = i < a.parts.size() ? a.parts[i] : 0;
    const int y = i < b.parts.size() ? b.parts[i] : 0;
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

std::optional<VersionRange> ParseRange(const std::string& text, std::string* error) {
  VersionRange range;
  const std::vector<std::string> words = Words(text);
  if (HasOr(words)) return ParseSeries(words, error);
  for (const std::string& word : words) {
    const std::string op = OperatorOf(word);
    const std::string number = word.substr(std::min(word.find_first_not_of("<>=!~^"), word.size()));
    if (!op.empty() && op != ">=" && op != ">" && op != "<=" && op != "<" && op != "=" && op != "!=") {
      *error = "\"" + op + "\" in \"" + word + "\" is not an operator; use >=, >, <=, <, ==, = or !=";
      return std::nullopt;
    }
    if (number.empty()) {
      *error = "\"" + word + "\" is not followed by a version; write it without a space, as in \">=12.0\"";
      return std::nullopt;
    }
    std::optional<Version> version = ParseVersion(number);
    if (!version) {
      *error =
          "\"" + number + "\" in \"" + word + "\" is not a version; write numbers and dots, as in \"12.0\"";
      return std::nullopt;
    }
    if (op.empty()) {
      range.terms.push_back({">=", *version});
      range.terms.push_back({"<", EndOfSeries(std::move(*version))});
    } else {
      range.terms.push_back({op, std::move(*version)});
    }
  }
  if (range.terms.empty()) {
    *error = "it is empty; write a range such as \">=12.0 <13\"";
    return std::nullopt;
  }
  return range;
}

std::string InBounds(const std::string& text) {
  std::vector<std::string> terms;
  if (HasOr(Words(text))) return text;
  for (const std::string& word : Words(text)) {
    const std::optional<Version> series = ParseVersion(word);
    // Behind the largest number there is none that could be written.
    if (!series || series->parts.back() == kMostNumber) {
      terms.push_back(word);
      continue;
    }
    const std::string kept = word.substr(0, word.rfind('.') + 1);  // "8." of "8.9"; npos + 1 is 0
    terms.push_back(">=" + word);
    terms.push_back("<" + kept + std::to_string(EndOfSeries(*series).parts.back()));
  }
  return Join(terms, " ");
}

bool Contains(const VersionRange& range, const Version& version) {
  if (!range.any_of.empty())
    return std::any_of(range.any_of.begin(), range.any_of.end(),
                       [&](const Version& series) { return InSeries(version, series); });
  return std::all_of(range.terms.begin(), range.terms.end(), [&](const VersionRange::Term& term) {
    return Holds(term.op, Compare(version, term.version));
  });
}

// Between two versions there is always another one (12 < 12.0.1 < 12.1), so only the bounds count, and the
// one version that remains when they meet.
bool IsSatisfiable(const VersionRange& range) {
  if (!range.any_of.empty()) return true;
  Version low{{0}};
  std::optional<Version> high;
  for (const VersionRange::Term& term : range.terms) {
    const bool equal = term.op == "=";
    if ((equal || term.op[0] == '>') && Compare(term.version, low) > 0) low = term.version;
    if (!equal && term.op[0] != '<') continue;
    if (!high || Compare(term.version, *high) < 0) high = term.version;
  }
  if (!high || Compare(low, *high) < 0) return true;
  return Compare(low, *high) == 0 && Contains(range, low);
}

}  // namespace cudnn_ci
