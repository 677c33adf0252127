#include "launch/engine_messages.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/message_pattern.h"
#include "base/path.h"
#include "base/text.h"

namespace cudnn_ci::launch {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = size_t{4} << 20;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// That of the gate for a finding with this blame, but 2 where the caller has to correct the line.
int ExitCodeOf(const std::string& blame) {
  return blame == "image" ? 1 : blame == "runner" ? 3 : blame == "matrix" ? 2 : 5;
}

void TakeRows(const json& finding, const char* mark, std::vector<EngineMessage>* messages) {
  const std::string blame = finding.at("blame");
  for (const json& row : finding.value("messages", json::array())) {
    if (!row.value(mark, false)) continue;
    EngineMessage message;
    message.finding = blame + "." + finding.at("id").get<std::string>();
    message.exit_code = ExitCodeOf(blame);
    for (const std::string& part : QuotedParts(row.at("text"))) message.parts.push_back(Lower(part));
    message.fix = row.at("fix");
    std::erase(message.fix, '`');
    message.unless = row.value("unless_given", std::vector<std::string>());
    messages->push_back(std::move(message));
  }
}

}  // namespace

std::vector<EngineMessage> ReadEngineMessages(const std::string& folder, const char* mark) {
  std::vector<EngineMessage> messages;
  for (const std::string& name : NamesIn(folder)) {
    if (!name.ends_with(".json")) continue;
    try {
      const json file = json::parse(ReadSmallFile(folder + "/" + name, kMostBytes));
      for (const json& finding : file.at("findings")) TakeRows(finding, mark, &messages);
    } catch (const json::exception&) {
      continue;
    }
  }
  return messages;
}

std::optional<SaidMessage> FindEngineMessage(const std::string& said,
                                             const std::vector<EngineMessage>& messages) {
  std::optional<SaidMessage> found;
  size_t most = 0;
  for (const std::string& line : Split(said, '\n')) {
    const std::string lower = Lower(line);
    for (const EngineMessage& message : messages)
      for (const std::string& part : message.parts)
        if (const PatternMatch match = MatchPattern(lower, part); match.letters > most) {
          most = match.letters;
          found = SaidMessage{message, line.substr(match.begin)};
        }
  }
  return found;
}

bool KnowsNoSuchImage(const std::string& said, const std::vector<EngineMessage>& messages) {
  bool unknown = false;
  for (const std::string& line : Split(Lower(said), '\n'))
    for (const EngineMessage& message : messages)
      for (const std::string& part : message.parts) {
        if (MatchPattern(line, part).letters == 0) continue;
        if (message.finding != "matrix.image-unknown") return false;
        unknown = true;
      }
  return unknown;
}

}  // namespace cudnn_ci::launch
