#include "nccl/rank_tally.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostWrong = 8;  // of one rank, that are told

void Append(std::string* text, const std::string& more, const char* between) {
  *text += (text->empty() ? "" : between) + more;
}

}  // namespace

bool MayBeTheWays(RanksEnd end) {
  return end == RanksEnd::kWrong || end == RanksEnd::kFailed || end == RanksEnd::kHung;
}

std::vector<std::string> RankNames(int ranks) {
  std::vector<std::string> names;
  for (int rank = 0; rank < ranks; ++rank) names.push_back("rank " + std::to_string(rank));
  return names;
}

RankTally::RankTally(std::vector<std::string> names) : ranks_(names.size()) {
  for (std::size_t rank = 0; rank < names.size(); ++rank) ranks_[rank].name = std::move(names[rank]);
}

bool RankTally::Take(std::size_t rank, const std::string& line) {
  if (line.empty() || rank >= ranks_.size()) return false;
  Rank& r = ranks_[rank];
  const std::string words = line.substr(1);
  switch (static_cast<RankWord>(line[0])) {
    case RankWord::kId:
      break;
    case RankWord::kLibrary:
      library_ = words;
      break;
    case RankWord::kStep:
      r.step = words, r.waits = false;
      break;
    case RankWord::kWaits:
      r.last_error = words, r.waits = true;
      return false;
    case RankWord::kWrong:
      if (++r.wrong_calls <= kMostWrong) Append(&r.wrong, words, " | ");
      break;
    case RankWord::kFailed:
      r.failed = words;
      break;
    case RankWord::kMemory:
      r.memory = words;
      break;
    case RankWord::kLacks:
      r.lacks = words;
      break;
    case RankWord::kTime:
      AddTime(words);
      break;
    case RankWord::kDone:
      r.done = true, r.judged = std::atoi(words.c_str());
      break;
    case RankWord::kEnded:
      r.ended = true, r.how_ended = words;
      break;
    default:
      return false;
  }
  return true;
}

void RankTally::AddTime(const std::string& words) {
  char name[32];
  double bytes = 0, factor = 0, seconds = 0;
  if (std::sscanf(words.c_str(), "%31[a-z_] %lf %lf %lf", name, &bytes, &factor, &seconds) != 4) return;
  Timed& timed = timed_[name];
  timed.bytes = bytes, timed.factor = factor, timed.seconds += seconds, ++timed.told;
}

bool RankTally::AllEnded() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.ended; });
}

bool RankTally::AnyEndedEarly() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.ended && !r.done; });
}

// What one kind of words all ranks have said.
std::string RankTally::Said(std::string Rank::*words, bool only_first) const {
  std::string text;
  for (const Rank& r : ranks_) {
    const std::string& said = r.*words;
    if (said.empty() || (only_first && !text.empty())) continue;
    Append(&text, (only_first ? "" : r.name + ": ") + said, "; ");
  }
  return text;
}

std::string RankTally::Died() const {
  std::string text;
  for (const Rank& r : ranks_)
    if (r.ended && !r.done && r.failed.empty() && r.lacks.empty() && r.memory.empty())
      Append(&text, r.name + " " + r.how_ended + (r.step.empty() ? "" : " in " + r.step), "; ");
  return text;
}

// Those that did not come are behind the others: in an earlier step.
std::string RankTally::Hung() const {
  std::string text;
  for (const Rank& r : ranks_) {
    Append(&text, r.name, "; ");
    if (r.done) {
      text += " had finished";
      continue;
    }
    text += (r.waits ? " waited in " : " did not return from ") + r.step;
    if (r.waits)
      text += r.last_error.empty() ? ", for which NCCL reports no error"
                                   : "; NCCL's last error: '" + r.last_error + "'";
  }
  return text;
}

RanksOutcome RankTally::Outcome(bool hung) const {
  RanksOutcome outcome;
  outcome.library = library_;
  for (const Rank& r : ranks_) outcome.judged = std::max(outcome.judged, r.judged);
  for (const auto& [name, timed] : timed_) {
    if (timed.told != ranks_.size() || timed.seconds <= 0) continue;
    const double mean = timed.seconds / static_cast<double>(timed.told);
    outcome.figures[name + "_algbw"] = timed.bytes / mean / 1e9;
    outcome.figures[name + "_busbw"] = timed.bytes * timed.factor / mean / 1e9;
  }
  const auto ends = [&outcome](RanksEnd end, const std::string& text) {
    if (text.empty()) return false;
    outcome.end = end, outcome.text = text;
    return true;
  };
  // A rank that dies leaves others waiting, or they fail too.
  if (!ends(RanksEnd::kLacking, Said(&Rank::lacks, true)) && !ends(RanksEnd::kWrong, Said(&Rank::wrong)) &&
      !ends(RanksEnd::kMemory, Said(&Rank::memory)) && !ends(RanksEnd::kDied, Died()) &&
      !ends(RanksEnd::kFailed, Said(&Rank::failed)) && hung)
    ends(RanksEnd::kHung, Hung());
  return outcome;
}

}  // namespace cudnn_ci
