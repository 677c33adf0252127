#include "cli/finding_signs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <tuple>

#include "base/file.h"
#include "base/message_pattern.h"
#include "base/path.h"
#include "base/text.h"
#include "model/record/finding.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = 4 << 20;

std::string Plain(std::string markdown) {
  std::erase(markdown, '`');
  return markdown;
}

// Lower case, one blank for each run of white space, without quotes; with `numbers` a # for each number.
std::string Comparable(const std::string& text, bool numbers) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '"' || c == '`') continue;
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    const bool digit = c >= '0' && c <= '9';
    const char now = blank ? ' ' : digit && numbers ? '#' : LowerCase(c);
    if ((now == ' ' || now == '#') && !out.empty() && out.back() == now) continue;
    out += now;
  }
  return std::string(Trim(out));
}

// How a text matches a message, the better the later.
enum class Fit { kNone, kBeginsWords, kWords, kSame };

struct Score {
  size_t letters = 0;
  Fit fit = Fit::kNone;
  bool operator<(const Score& other) const {
    return std::tuple(letters, fit) < std::tuple(other.letters, other.fit);
  }
};

Score ScoreOf(const std::string& asked, const std::string& printed) {
  if (asked == printed) return {asked.size(), Fit::kSame};
  if (const size_t letters = MatchPattern(asked, printed, MatchEnds::kAtWordBorders).letters; letters > 0)
    return {letters, Fit::kWords};
  size_t at = asked.empty() ? std::string::npos : printed.find(asked);
  while (at != std::string::npos && !IsWordBorder(printed, at)) at = printed.find(asked, at + 1);
  if (at == std::string::npos) return {};
  return {asked.size(), IsWordBorder(printed, at + asked.size()) ? Fit::kWords : Fit::kBeginsWords};
}

// With fewer letters than kLeast a match says nothing. `asked` is comparable.
Score BestScore(const std::string& asked, const ProgramMessage& message, bool numbers) {
  constexpr size_t kLeast = 6;
  Score best;
  for (const std::string& part : message.parts)
    if (const Score score = ScoreOf(asked, Comparable(part, numbers)); score.letters >= kLeast)
      best = std::max(best, score);
  return best;
}

// Letters of a word; of them an id of a finding has all but _.
bool IsOfId(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

// Calls `add` for the finding that has the row, and for each that the row names.
template <class Add>
void ForEachFinding(const std::string& id, const json& row, Add add) {
  add(id);
  for (const json& other : row.value("also", json::array())) add(other.get<std::string>());
}

void Take(const json& finding, std::map<std::string, FindingSigns>* signs) {
  const std::string id = finding.at("id");
  (*signs)[id];
  for (const json& row : finding.value("failure_modes", json::array()))
    ForEachFinding(id, row, [&](const std::string& of) {
      (*signs)[of].failure_modes.push_back({Plain(row.at("name")), Plain(row.at("shows"))});
    });
  for (const json& row : finding.value("messages", json::array())) {
    ProgramMessage message{Plain(row.at("text")), Plain(row.at("fix")), QuotedParts(row.at("text")), {}};
    ForEachFinding(id, row, [&](const std::string& of) { message.findings.push_back(of); });
    for (const std::string& of : message.findings) (*signs)[of].messages.push_back(message);
  }
}

bool TakeFile(const std::string& path, std::map<std::string, FindingSigns>* signs) try {
  const json file = json::parse(ReadSmallFile(path, kMostBytes));
  for (const json& finding : file.at("findings")) Take(finding, signs);
  return true;
} catch (const json::exception&) {
  return false;
}

}  // namespace

Result<std::map<std::string, FindingSigns>> ReadFindingSigns(const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& name : NamesIn(folder))
    if (name.ends_with(".json")) files.push_back(folder + "/" + name);
  if (files.empty()) return Error{folder + ": the folder has no findings; repair the installation"};
  std::map<std::string, FindingSigns> signs;
  for (const std::string& file : files)
    if (!TakeFile(file, &signs)) return Error{file + ": not a file of findings; repair the installation"};
  return signs;
}

std::vector<ProgramMessage> FindMessages(const std::string& text,
                                         const std::map<std::string, FindingSigns>& signs, size_t most) {
  struct Hit {
    Score any_numbers, same_numbers;
    const ProgramMessage* message;
    // Letters say more than how they fit.
    auto Rank() const {
      return std::tuple(any_numbers.letters, same_numbers, any_numbers.fit, message->findings.size());
    }
  };
  const std::string asked = Comparable(text, true), with_numbers = Comparable(text, false);
  std::vector<Hit> hits;
  for (const auto& [id, of] : signs)
    for (const ProgramMessage& message : of.messages) {
      // Each stands with all its findings, and counts once.
      if (message.findings.front() != id) continue;
      if (const Score score = BestScore(asked, message, true); score.letters > 0)
        hits.push_back({score, BestScore(with_numbers, message, false), &message});
    }
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.Rank() > b.Rank(); });
  std::vector<ProgramMessage> found;
  for (const Hit& hit : hits)
    if (found.size() < most) found.push_back(*hit.message);
  return found;
}

std::string FindingIdIn(const std::string& text, const std::map<std::string, FindingSigns>& signs) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerCase);
  std::string unknown;
  std::string_view before;  // the word that a point alone stands behind
  for (size_t begin = 0, end = 0; begin < lower.size(); begin = end) {
    while (end < lower.size() && IsOfId(lower[end])) ++end;
    std::string word = lower.substr(begin, end - begin);
    Blame blame = Blame::kUndetermined;
    const bool behind_blame = !word.empty() && Parse(std::string(before), &blame);
    if ((behind_blame || word.find('-') != std::string::npos) && signs.count(word) > 0) return word;
    if (behind_blame && unknown.empty()) unknown = word;
    const size_t gap = end;
    while (end < lower.size() && !IsOfId(lower[end])) ++end;
    before = end == gap + 1 && lower[gap] == '.' ? std::string_view(lower).substr(begin, gap - begin) : "";
  }
  return unknown;
}

}  // namespace cudnn_ci
