// The counts and the lines.
#include "compute/choice_table.h"

#include <algorithm>
#include <map>

namespace cudnn_ci {
namespace {

constexpr ChoiceOutcome kOutcomes[] = {ChoiceOutcome::kPassed, ChoiceOutcome::kWrong,
                                       ChoiceOutcome::kFailed, ChoiceOutcome::kUnsupported,
                                       ChoiceOutcome::kMemory, ChoiceOutcome::kUnverifiable};

const char* NameOf(ChoiceOutcome outcome) {
  switch (outcome) {
    case ChoiceOutcome::kWrong:
      return "wrong";
    case ChoiceOutcome::kFailed:
      return "failed";
    case ChoiceOutcome::kUnsupported:
      return "unsupported";
    case ChoiceOutcome::kMemory:
      return "too large";
    case ChoiceOutcome::kUnverifiable:
      return "unverifiable";
    case ChoiceOutcome::kPassed:
      break;
  }
  return "passed";
}

std::string Line(const std::string& names, ChoiceOutcome outcome, const std::string& words) {
  return names + ": " + NameOf(outcome) + (words.empty() ? "" : ", " + words) + "\n";
}

}  // namespace

std::size_t ChoiceTable::Count(ChoiceOutcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      rows_.begin(), rows_.end(), [outcome](const ChoiceRow& row) { return row.outcome == outcome; }));
}

std::string ChoiceTable::Text() const {
  std::string text;
  std::map<std::string, std::string> refused;  // reason -> names
  for (const ChoiceRow& row : rows_) {
    if (row.outcome != ChoiceOutcome::kUnsupported) {
      text += Line(row.name, row.outcome, row.words);
      continue;
    }
    std::string& names = refused[row.words];
    names += (names.empty() ? "" : ", ") + row.name;
  }
  for (const auto& [words, names] : refused) text += Line(names, ChoiceOutcome::kUnsupported, words);
  return text;
}

std::string ChoiceTable::Summary() const {
  std::string summary;
  for (const ChoiceOutcome outcome : kOutcomes) {
    const std::size_t count = Count(outcome);
    if (count > 0) summary += (summary.empty() ? "" : ", ") + std::to_string(count) + " " + NameOf(outcome);
  }
  return summary.empty() ? "nothing to choose from" : summary;
}

}  // namespace cudnn_ci
