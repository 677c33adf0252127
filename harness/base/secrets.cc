// What must not be printed. See secrets.h.
#include "base/secrets.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/cut_mark.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kShortest = 8;      // bytes of a secret
constexpr size_t kShortestRest = 4;  // of one that was cut

// How the tokens of well-known services begin, and how many letters, digits, "-" and "_" follow at least.
struct TokenShape {
  std::string_view head;
  size_t following;
};
constexpr TokenShape kShapes[] = {
    {"ghp_", 36},   {"gho_", 36},   {"ghu_", 36},  {"ghs_", 36},   {"ghr_", 36},      {"github_pat_", 22},
    {"glpat-", 20}, {"AKIA", 16},   {"ASIA", 16},  {"AIza", 35},   {"xoxb-", 20},     {"xoxp-", 20},
    {"hf_", 30},    {"nvapi-", 40}, {"npm_", 36},  {"pypi-", 40},  {"dckr_pat_", 20}, {"sk-", 32},
    {"glrt-", 20},  {"glcbt-", 20}, {"gldt-", 20}, {"glptt-", 20}, {"glft-", 20},
};

bool IsTokenCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

// What a shell takes for a variable behind "$".
bool IsShellName(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

size_t EndOfToken(std::string_view text, size_t at) {
  while (at < text.size() && IsTokenCharacter(text[at])) ++at;
  return at;
}

using Range = std::pair<size_t, size_t>;

// One pass, since attachments are large.
void FindShapes(std::string_view text, std::vector<Range>* out) {
  bool inside = false;  // of a word: a token begins one
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins = !std::exchange(inside, IsTokenCharacter(text[at])) && inside;
    if (!begins) continue;
    for (const TokenShape& shape : kShapes) {
      if (text.substr(at, shape.head.size()) != shape.head) continue;
      const size_t end = EndOfToken(text, at + shape.head.size());
      if (end - at - shape.head.size() >= shape.following) out->emplace_back(at, end);
    }
  }
}

// Three parts of base64url; the first two begin like an object in JSON.
void FindWebTokens(std::string_view text, std::vector<Range>* out) {
  for (size_t at = text.find("eyJ"); at != std::string_view::npos; at = text.find("eyJ", at + 1)) {
    if (at > 0 && IsTokenCharacter(text[at - 1])) continue;  // else a long word would be read again and again
    const size_t first = EndOfToken(text, at);
    if (text.substr(first, 4) != ".eyJ") continue;
    const size_t second = EndOfToken(text, first + 1);
    if (second < text.size() && text[second] == '.') out->emplace_back(at, EndOfToken(text, second + 1));
  }
}

// Bounded, so that a text made of beginnings is gone through once.
void FindPrivateKeys(std::string_view text, std::vector<Range>* out) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "PRIVATE KEY-----";
  constexpr size_t kLongestHead = 100, kLongestKey = 64 << 10;
  for (size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at)) {
    const size_t begin = at, head = text.substr(at, kLongestHead).find(kEnd);
    at += kBegin.size();
    if (head == std::string_view::npos) continue;
    const size_t inside = begin + head + kEnd.size();
    const size_t end = text.substr(inside, kLongestKey).find(kEnd);
    // One that was cut has no end: what follows is all of it.
    at = end == std::string_view::npos ? std::min(text.size(), inside + kLongestKey)
                                       : inside + end + kEnd.size();
    out->emplace_back(begin, at);
  }
}

// The first byte at or behind a place that is, or is not, one of these. Asked for places that ascend, it goes
// through the text once.
class NextOf {
 public:
  NextOf(std::string_view text, std::string_view bytes, bool is = true)
      : text_(text), bytes_(bytes), is_(is) {}
  size_t From(size_t at) {
    if (at > next_ || !known_)
      next_ =
          std::min(is_ ? text_.find_first_of(bytes_, at) : text_.find_first_not_of(bytes_, at), text_.size());
    known_ = true;
    return next_;
  }

 private:
  const std::string_view text_, bytes_;
  const bool is_;
  bool known_ = false;
  size_t next_ = 0;
};

// The last "@" of a part of the text, npos without one. For ends that ascend it goes through the text once.
class LastAt {
 public:
  explicit LastAt(std::string_view text) : text_(text) {}
  size_t In(size_t begin, size_t end) {
    for (; done_ < end; ++done_)
      if (text_[done_] == '@') last_ = done_;
    return last_ == std::string_view::npos || last_ < begin ? std::string_view::npos : last_;
  }

 private:
  const std::string_view text_;
  size_t done_ = 0, last_ = std::string_view::npos;
};

// The password in "https://user:password@host", which may hold an "@" itself; where there is none, a user's
// name that is as long as a token. Every question about what follows goes through the text once, since a text
// may be made of beginnings.
void FindPasswordsOfUrls(std::string_view text, std::vector<Range>* out) {
  constexpr size_t kLongestAuthority = 4096, kShortestToken = 20;
  NextOf slash(text, "/ \t\n\"'"), blank(text, " \t\n\"'"), colons(text, ":");
  NextOf no_digit(text, "0123456789", false);
  LastAt in_authority(text), in_path(text);
  for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 1)) {
    const size_t begin = at + 3, most = std::min(text.size(), begin + kLongestAuthority);
    const size_t end = std::min(slash.From(begin), most);
    const size_t colon = colons.From(begin);
    const bool has_colon = colon < end;
    size_t host = in_authority.In(begin, end);
    // A slash in a password should be written %2F, and is not always: what follows a host's colon is a
    // number.
    const size_t to_blank = std::min(blank.From(begin), most);
    const size_t at_blank = in_path.In(begin, to_blank);
    if (host == std::string_view::npos && has_colon && text[begin] != '[' && no_digit.From(colon + 1) < end)
      host = at_blank;
    if (host == std::string_view::npos) continue;
    // One in another would be one more for each beginning.
    if (!out->empty() && host <= out->back().second) continue;
    if (has_colon && colon + 1 < host)
      out->emplace_back(colon + 1, host);
    else if (!has_colon && host - begin >= kShortestToken)
      out->emplace_back(begin, host);
  }
}

// What follows these words, to the next blank or separator, from so many bytes on.
void FindNamedValues(std::string_view text, std::vector<Range>* out) {
  struct Named {
    std::string_view head;
    size_t shortest;
  };
  constexpr Named kNamed[] = {
      {"uthorization: Basic ", 8}, {"uthorization: Bearer ", 8}, {"?sig=", 20}, {"&sig=", 20}};
  for (const Named& named : kNamed)
    for (size_t at = text.find(named.head); at != std::string_view::npos;
         at = text.find(named.head, at + 1)) {
      const size_t begin = at + named.head.size();
      const size_t end = std::min(text.find_first_of(" \t\r\n\"'&?<>[", begin), text.size());
      if (end - begin >= named.shortest) out->emplace_back(begin, end);
    }
}

// Where a text was cut: a rest of a value may begin at `after` and end at `before`.
struct Cut {
  size_t before, after;
};

// In CutMark's words, with or without brackets around them, and the "..." of CleanLine, behind which another
// text may follow. At most 64 of each: what is cut for a report has one, and a text that is made of such
// marks must not hold up the run.
std::vector<Cut> Cuts(std::string_view text) {
  constexpr size_t kMost = 64, kLongestMark = 30;  // up to the number's last digit
  constexpr std::string_view kTail = kCutMarkTail, kDots = "...";
  std::vector<Cut> cuts;
  for (size_t dots = text.rfind(kDots); dots != std::string_view::npos && cuts.size() < kMost;
       dots = dots == 0 ? std::string_view::npos : text.rfind(kDots, dots - 1))
    cuts.push_back({dots, dots + kDots.size()});
  const size_t most = cuts.size() + kMost;
  for (size_t mark = text.find(kTail); mark != std::string_view::npos && cuts.size() < most;
       mark = text.find(kTail, mark + 1)) {
    const size_t from = mark > kLongestMark ? mark - kLongestMark : 0;
    const size_t dots = text.substr(from, mark - from).rfind(kCutMarkHead);
    if (dots == std::string_view::npos) continue;
    size_t before = from + dots, after = mark + kTail.size();
    for (const char c : {'[', '\n'})
      if (before > 0 && text[before - 1] == c) --before;
    for (const char c : {']', '\n'})
      if (after < text.size() && text[after] == c) ++after;
    cuts.push_back({before, after});
  }
  return cuts;
}

}  // namespace

bool IsSecretName(std::string_view name) {
  std::string capitals(name);
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const char* word : {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "KEY"})
    if (capitals.find(word) != std::string::npos) return true;
  return false;
}

Secrets::Secrets(const char* const* environment) {
  for (const char* const* entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || !IsSecretName(text.substr(0, equals))) continue;
    const std::string name(text.substr(0, equals));
    const std::string_view value = text.substr(equals + 1);
    Add(name, value);
    // As a report shows it, and line by line.
    const std::string clean = CleanText(value);
    Add(name, clean);
    for (const std::string& line : Split(clean, '\n')) Add(name, Trim(line));
  }
  std::vector<std::string_view> values;
  std::vector<std::string> reversed;
  for (const auto& entry : names_) {
    of_value_.push_back(&entry);
    values.emplace_back(entry.first);
    reversed.emplace_back(entry.first.rbegin(), entry.first.rend());
    longest_ = std::max(longest_, entry.first.size());
  }
  values_ = WordFinder(values);
  reversed_ = WordFinder({reversed.begin(), reversed.end()});
}

void Secrets::Add(const std::string& name, std::string_view value) {
  if (value.size() < kShortest) return;
  marks_.insert(CleanLine(name, 100));
  names_.emplace(value, name);  // of two variables with one value the first is named
}

const Secrets& Secrets::OfThisProcess() {
  static const Secrets kOwn(environ);
  return kOwn;
}

void Secrets::FindValues(std::string_view text, std::vector<Place>* places) const {
  values_.Scan(text, [&](size_t end, size_t value) {
    const auto& [words, name] = *of_value_[value];
    const size_t begin = end - words.size();
    // What lies inside another is not said, and what overlaps is one, so that no text makes more places than
    // it has bytes apart.
    while (!places->empty() && begin <= places->back().begin) places->pop_back();
    if (places->empty() || begin >= places->back().end)
      places->push_back({begin, end, &name, true});
    else
      places->back() = {places->back().begin, end, nullptr, false};
  });
}

void Secrets::FindRests(std::string_view text, std::vector<Place>* places) const {
  if (names_.empty()) return;
  for (const Cut& cut : Cuts(text)) {
    const size_t first = cut.before > longest_ ? cut.before - longest_ : 0;
    const size_t head = values_.BeginningAtEnd(text.substr(first, cut.before - first));
    if (head >= kShortestRest) places->push_back({cut.before - head, cut.before, nullptr, false});
    const std::string_view behind = text.substr(cut.after, longest_);
    const size_t tail = reversed_.BeginningAtEnd(std::string(behind.rbegin(), behind.rend()));
    if (tail >= kShortestRest) places->push_back({cut.after, cut.after + tail, nullptr, false});
  }
}

bool Secrets::IsInMark(std::string_view text, const Place& place) const {
  constexpr std::string_view kHead = "[masked ";
  constexpr size_t kLongest = 120;
  const size_t from = place.begin > kLongest ? place.begin - kLongest : 0;
  const size_t head = text.substr(from, place.begin - from + kHead.size()).rfind(kHead);
  if (head == std::string_view::npos) return false;
  const size_t name = from + head + kHead.size();
  const std::string_view rest = text.substr(name, kLongest);
  const size_t end = rest.find(']');
  if (end == std::string_view::npos || place.end > name + end + 1) return false;
  // What a check has put into brackets is no mark: only a name that is known makes it one.
  const std::string_view named = rest.substr(0, end);
  return marks_.count(named) > 0;
}

std::vector<Secrets::Place> Secrets::Find(std::string_view text) const {
  std::vector<Place> places;
  if (text.size() < kShortest) return places;
  FindValues(text, &places);
  std::vector<Range> shapes;
  FindShapes(text, &shapes);
  FindWebTokens(text, &shapes);
  FindPrivateKeys(text, &shapes);
  FindPasswordsOfUrls(text, &shapes);
  FindNamedValues(text, &shapes);
  for (const auto& [begin, end] : shapes) places.push_back({begin, end, nullptr, true});
  FindRests(text, &places);
  if (text.find("[masked ") != std::string_view::npos)
    std::erase_if(places, [&](const Place& place) { return IsInMark(text, place); });
  // Of those that overlap what begins first, of these the longest; what a variable holds before a shape.
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<Place> apart;
  for (const Place& place : places) {
    if (apart.empty() || place.begin >= apart.back().end) {
      apart.push_back(place);
    } else if (place.end > apart.back().end) {
      apart.back() = {apart.back().begin, place.end, nullptr, false};  // two that overlap are one
    }
  }
  return apart;
}

std::string Secrets::Mask(std::string_view text) const {
  std::string out;
  size_t done = 0;
  for (const Place& place : Find(text)) {
    out += text.substr(done, place.begin - done);
    out += place.name != nullptr ? "[masked " + CleanLine(*place.name, 100) + "]"
           : place.whole         ? "[masked token]"
                                 : "[masked]";
    done = place.end;
  }
  out += text.substr(done);
  return out;
}

std::string Secrets::MaskKeepingLength(std::string_view text) const {
  std::string out(text);
  for (const Place& place : Find(text))
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(place.begin),
              out.begin() + static_cast<std::ptrdiff_t>(place.end), '*');
  return out;
}

std::string Secrets::ShellWord(std::string_view word) const {
  std::string out;
  size_t done = 0;
  for (const Place& place : Find(word)) {
    if (place.begin > done) out += ShellQuote(word.substr(done, place.begin - done));
    const bool named = place.name != nullptr && IsShellName(*place.name);
    out += named ? "\"$" + *place.name + "\"" : ShellQuote(place.whole ? "[masked token]" : "[masked]");
    done = place.end;
  }
  if (done < word.size() || word.empty()) out += ShellQuote(word.substr(done));
  return out;
}

}  // namespace cudnn_ci
