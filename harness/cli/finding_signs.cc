#include "cli/finding_signs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <tuple>

#include "base/file.h"
#include "base/message_pattern.h"
#include "base/path.h"
#include "base/text.h"

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
    const char now = blank                  ? ' '
                     : digit && numbers     ? '#'
                     : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32)
                                            : c;
    if ((now == ' ' || now == '#') && !out.empty() && out.back() == now) continue;
    out += now;
  }
  return std::string(Trim(out));
}

// With fewer letters than kLeast a match says nothing.
size_t Score(const std::string& text, const ProgramMessage& message, bool numbers) {
  constexpr size_t kLeast = 6;
  const std::string asked = Comparable(text, numbers);
  size_t best = 0;
  for (const std::string& part : message.parts) {
    const std::string printed = Comparable(part, numbers);
    size_t letters = MatchPattern(asked, printed).letters;
    if (letters == 0 && printed.find(asked) != std::string::npos) letters = asked.size();
    if (letters >= kLeast) best = std::max(best, letters);
  }
  return best;
}

// Calls `add` for the finding that has the row, and for each that the row names.
template <class Add>
void ForEachFinding(const std::string& id, const json& row, Add add) {
  add(id);
  for (const json& other : row.value("also", json::array())) add(other.get<std::string>());
}

void Take(const json& finding, std::map<std::string, FindingSigns>* signs) {
  const std::string id = finding.at("id");
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
  if (files.empty()) return Error{folder + ": no findings are there; repair the installation"};
  std::map<std::string, FindingSigns> signs;
  for (const std::string& file : files)
    if (!TakeFile(file, &signs)) return Error{file + ": no file of findings; repair the installation"};
  return signs;
}

std::vector<ProgramMessage> FindMessages(const std::string& text,
                                         const std::map<std::string, FindingSigns>& signs, size_t most) {
  struct Hit {
    size_t letters, same_numbers;
    const ProgramMessage* message;
  };
  std::vector<Hit> hits;
  for (const auto& [id, of] : signs)
    for (const ProgramMessage& message : of.messages) {
      // Each stands with all its findings, and counts once.
      if (message.findings.front() != id) continue;
      if (const size_t letters = Score(text, message, true); letters > 0)
        hits.push_back({letters, Score(text, message, false), &message});
    }
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    return std::tuple(a.letters, a.same_numbers, a.message->findings.size()) >
           std::tuple(b.letters, b.same_numbers, b.message->findings.size());
  });
  std::vector<ProgramMessage> found;
  for (const Hit& hit : hits)
    if (found.size() < most) found.push_back(*hit.message);
  return found;
}

}  // namespace cudnn_ci
