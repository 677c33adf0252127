// How a comparison is shown: for a terminal, a merge request, a program, the summary. Texts of runs are
// data: cleaned, on one line, and in Markdown as code, where they can neither link nor mention.
#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "report/text/finding_lists.h"
#include "report/text/json_text.h"
#include "review/compare.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxText = 300;

struct Kind {
  const char* title;
  const char* key;  // in JSON
  const std::vector<CaseChange> Comparison::*changes;
};
constexpr std::array<Kind, 5> kKinds = {{{"newly failing", "newly_failing", &Comparison::failing},
                                         {"newly skipped", "newly_skipped", &Comparison::skipped},
                                         {"fixed", "fixed", &Comparison::fixed},
                                         {"slower", "slower", &Comparison::slower},
                                         {"faster", "faster", &Comparison::faster}}};

std::string Line(const std::string& text) { return SingleLine(text, kMaxText); }

// "1 newly failing, 2 newly skipped, 0 fixed, 0 slower": what there is to say whatever there is.
std::string Counts(const Comparison& c) {
  std::string text;
  for (const Kind& kind : kKinds) {
    const size_t count = (c.*kind.changes).size();
    if (kind.changes == &Comparison::faster && count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind.title;
  }
  if (c.still_failing > 0) text += ", " + std::to_string(c.still_failing) + " still failing";
  if (c.added > 0) text += ", " + std::to_string(c.added) + " new";
  return text;
}

std::string Headline(const Comparison& c) {
  if (!c.not_comparable.empty()) return "NOT COMPARABLE: " + Line(c.not_comparable);
  return (c.worse ? "WORSE: " : "NOT WORSE: ") + Counts(c);
}

// Whose change it is.
std::string Whose(const CaseChange& change) {
  return change.ref.empty() ? "(the run)" : DisplayId(change.ref);
}

std::string Mark(const CaseChange& change) { return change.counts ? "" : " (does not count)"; }

// A code span: a backquote would end it.
std::string Code(const std::string& text) {
  std::string clean = Line(text);
  std::replace(clean.begin(), clean.end(), '`', '\'');
  return clean.empty() ? "-" : "`" + clean + "`";
}

void PutChanges(const std::vector<CaseChange>& changes, const char* key, JsonText* out) {
  out->Key(key).BeginArray();
  for (const CaseChange& change : changes) {
    out->BeginCompactObject();
    out->Key("case").String(Whose(change));
    out->Key("before").String(change.before);
    out->Key("after").String(change.after);
    out->Key("counts").Bool(change.counts).EndObject();
  }
  out->EndArray();
}

}  // namespace

std::string CompareText(const Comparison& c, size_t most) {
  std::string text = Headline(c) + "\n";
  if (!c.not_comparable.empty()) return text;
  text += "\n  before  " + Line(c.verdict_before) + "\n  after   " + Line(c.verdict_after) + "\n";
  for (const Kind& kind : kKinds) {
    const std::vector<CaseChange>& changes = c.*kind.changes;
    if (!changes.empty()) text += std::string("\n  ") + kind.title + "\n";
    for (size_t i = 0; i < changes.size() && i < most; ++i)
      text += "    " + Line(Whose(changes[i])) + Mark(changes[i]) + "\n      " + Line(changes[i].before) +
              " -> " + Line(changes[i].after) + "\n";
    if (changes.size() > most) text += "    and " + std::to_string(changes.size() - most) + " more\n";
  }
  if (!c.libraries.empty()) text += "\n  changed\n";
  for (const LibraryChange& l : c.libraries)
    text += "    " + Line(l.label) + ": " + Line(l.before) + " -> " + Line(l.after) + "\n";
  text += "\n  speed   " + Line(c.speed) + "\n";
  for (const std::string& note : c.notes) text += "  note    " + Line(note) + "\n";
  return text;
}

std::string CompareMarkdown(const Comparison& c, size_t most) {
  if (!c.not_comparable.empty()) return "**NOT COMPARABLE**: " + Code(c.not_comparable) + "\n";
  std::string text = "**" + Headline(c) + "**\n\n- before: " + Code(c.verdict_before) +
                     "\n- after: " + Code(c.verdict_after) + "\n";
  for (const Kind& kind : kKinds) {
    const std::vector<CaseChange>& changes = c.*kind.changes;
    if (!changes.empty()) text += std::string("\n### ") + kind.title + "\n\n";
    for (size_t i = 0; i < changes.size() && i < most; ++i)
      text += "- " + Code(Whose(changes[i])) + Mark(changes[i]) + ": " + Code(changes[i].before) + " → " +
              Code(changes[i].after) + "\n";
    if (changes.size() > most) text += "- and " + std::to_string(changes.size() - most) + " more\n";
  }
  if (!c.libraries.empty()) text += "\n### changed\n\n";
  for (const LibraryChange& l : c.libraries)
    text += "- " + Code(l.label) + ": " + Code(l.before) + " → " + Code(l.after) + "\n";
  text += "\nSpeed: " + Code(c.speed) + "\n";
  for (const std::string& note : c.notes) text += "\n" + Code(note) + "\n";
  return text;
}

std::string CompareJson(const Comparison& c) {
  JsonText out(1, size_t{64} << 10);
  out.BeginObject().Key("schema").String("cudnn-ci/compare/1");
  out.Key("exit_code").Int(ExitCodeOf(c));
  out.Key("not_comparable");
  c.not_comparable.empty() ? out.Null() : out.String(c.not_comparable);
  out.Key("worse").Bool(c.worse);
  out.Key("before").String(c.verdict_before).Key("after").String(c.verdict_after);
  for (const Kind& kind : kKinds) PutChanges(c.*kind.changes, kind.key, &out);
  out.Key("libraries").BeginArray();
  for (const LibraryChange& l : c.libraries) {
    out.BeginCompactObject();
    out.Key("what").String(l.label).Key("before").String(l.before).Key("after").String(l.after).EndObject();
  }
  out.EndArray().Key("speed").String(c.speed).Key("notes").Strings(c.notes);
  out.Key("still_failing").Int(static_cast<int64_t>(c.still_failing));
  out.Key("unchanged").Int(static_cast<int64_t>(c.unchanged));
  out.Key("added").Int(static_cast<int64_t>(c.added)).EndObject();
  return out.Take() + "\n";
}

std::vector<std::pair<std::string, std::string>> CompareLines(const Comparison& c, const RunView& before,
                                                              size_t most) {
  std::vector<std::pair<std::string, std::string>> lines;
  const std::string what = before.timestamp + " (" + before.verdict + ")";
  if (!c.not_comparable.empty()) {
    lines.emplace_back("since", what + ": not comparable, " + Line(c.not_comparable));
    return lines;
  }
  lines.emplace_back("since", what + ": " + Counts(c));
  for (const Kind& kind : kKinds) {
    if (kind.changes == &Comparison::faster) continue;
    const std::vector<CaseChange>& changes = c.*kind.changes;
    for (size_t i = 0; i < changes.size() && i < most; ++i)
      lines.emplace_back("", std::string(kind.title) + ": " + Line(Whose(changes[i])));
    if (changes.size() > most)
      lines.emplace_back("", "and " + std::to_string(changes.size() - most) + " more");
  }
  for (size_t i = 0; i < c.libraries.size() && i < most; ++i)
    lines.emplace_back("", Line(c.libraries[i].label) + ": " + Line(c.libraries[i].before) + " -> " +
                               Line(c.libraries[i].after));
  return lines;
}

std::function<std::vector<std::pair<std::string, std::string>>(const Summary&)> ChangesSince(
    std::shared_ptr<const RunView> before) {
  if (!before) return nullptr;
  return [before = std::move(before)](const Summary& summary) {
    return CompareLines(Compare(*before, ViewOf(summary)), *before, kMaxListed);
  };
}

}  // namespace cudnn_ci
