// Patterns, edit distance and FNV-1a: the functions of text.h that compare texts.
#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace cudnn_ci {

bool GlobMatch(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  // Where to resume when a literal fails: the last star takes one more character. Only the last star
  // needs to be remembered, so the time is at most |pattern| * |text|.
  size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

bool MatchesAny(std::string_view patterns, std::string_view text) {
  for (;;) {
    const size_t end = patterns.find(':');
    if (GlobMatch(patterns.substr(0, end), text)) return true;
    if (end == std::string_view::npos) return false;
    patterns.remove_prefix(end + 1);
  }
}

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

bool FilterMatch(std::string_view filter, std::string_view text) {
  const size_t dash = filter.find('-');
  const std::string_view wanted = filter.substr(0, dash);
  if (!wanted.empty() && !MatchesAny(wanted, text)) return false;
  if (dash == std::string_view::npos) return true;
  return !MatchesAny(filter.substr(dash + 1), text);
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 512;  // beyond it a hint is not worth quadratic work
  if (word.empty() || word.size() > kLongest) return {};
  const std::string wanted = LowerCase(word);
  // A third of the word may be wrong: "stirde" is a slip for "stride", "gpu" is none for "pad".
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    const size_t shorter = std::min(candidate.size(), wanted.size());
    const size_t longer = std::max(candidate.size(), wanted.size());
    if (candidate.size() > kLongest || longer - shorter >= best_distance) continue;
    const size_t distance = EditDistance(wanted, LowerCase(candidate));
    if (distance < best_distance && distance < longer) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? std::string() : *best;
}

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace cudnn_ci
