// One item of "checks".
#include "model/matrix/matrix_entry.h"

#include <algorithm>
#include <utility>

#include "model/json/json_tree.h"
#include "model/matrix/matrix_format.h"

namespace cudnn_ci {

namespace {

void ReadAxes(ObjectReader* reader, Entry* entry) {
  if (const Json::Object* params = reader->Object("params")) entry->params = *params;
  const Json::Object* axes = reader->Object("axes");
  if (axes == nullptr) return;
  for (const Json::Member& axis : *axes) {
    const auto* values = std::get_if<Json::Array>(&axis.value.value);
    if (values == nullptr || values->empty()) {
      reader->WrongType("axes." + axis.key, "a list of at least one value", axis.value);
      continue;
    }
    if (const Json* fixed = Find(entry->params, axis.key)) {
      reader->Report(axis.position, Quote(axis.key) + " is an axis here and a parameter at " +
                                        ToString(fixed->position) + "; remove one of them");
    }
    entry->axes.push_back(axis);
  }
}

// Combinations that can never apply are a slip: "exclude" would let a case through that was meant to be left
// out.
void CheckCombination(const std::string& key, const Json::Object& combination, const Entry& entry,
                      ObjectReader* reader) {
  std::vector<std::string> names;
  Json::Object axes = entry.axes;
  if (entry.checks.size() > 1) {
    Json::Array checks;
    for (const std::string& check : entry.checks) checks.push_back({check, entry.position});
    axes.push_back({"check", entry.position, {std::move(checks), entry.position}});
  }
  for (const Json::Member& axis : axes) names.push_back(axis.key);
  for (const Json::Member& member : combination) {
    const Json* axis = Find(axes, member.key);
    if (axis == nullptr) {
      reader->Report(member.position, Quote(key) + " names " + Quote(member.key) +
                                          ", which is not an axis of this entry" + Hint(member.key, names));
      continue;
    }
    const auto& values = std::get<Json::Array>(axis->value);
    const auto same = [&](const Json& value) { return SameJson(value, member.value); };
    if (std::any_of(values.begin(), values.end(), same)) continue;
    std::vector<std::string> known;
    for (const Json& value : values) {
      if (const auto* text = std::get_if<std::string>(&value.value)) known.push_back(*text);
    }
    const auto* text = std::get_if<std::string>(&member.value.value);
    reader->Report(member.value.position, Quote(key) + (key == "exclude" ? " leaves out " : " names ") +
                                              Describe(member.value) + ", which the axis " +
                                              Quote(member.key) + " does not have" +
                                              (text == nullptr ? "" : Hint(*text, known)));
  }
}

void ReadCombinations(ObjectReader* reader, const std::string& key, const Entry& entry,
                      std::vector<Json::Object>* out) {
  const Json::Array* list = reader->List(key);
  if (list == nullptr) return;
  for (const Json& item : *list) {
    const auto* combination = std::get_if<Json::Object>(&item.value);
    if (combination == nullptr || combination->empty()) {
      reader->WrongType(key, "a list of objects such as {\"dtype\": \"float32\"}", item);
      continue;
    }
    CheckCombination(key, *combination, entry, reader);
    out->push_back(*combination);
  }
}

// true: every combination.
void ReadSlow(ObjectReader* reader, const Json::Object& object, Entry* entry) {
  const Json* slow = Find(object, "slow");
  if (slow == nullptr || !std::holds_alternative<bool>(slow->value))
    return ReadCombinations(reader, "slow", *entry, &entry->slow);
  bool all = false;
  reader->Bool("slow", &all);
  if (all) entry->slow.emplace_back();
}

void ReadEntryNames(ObjectReader* reader, const Json::Object& object, Entry* entry) {
  reader->String("id", &entry->id);
  reader->String("name", &entry->name);
  if (const Json* name = Find(object, "name")) entry->name_position = name->position;
  if (!entry->name.empty() && !IsIdText(entry->name)) {
    reader->Report(entry->name_position, "the name " + Quote(entry->name) +
                                             " is part of case ids, so it must consist of " + kIdCharacters);
  }
}

// One check or a list of them, each once; returns where they stand.
std::vector<Position> ReadChecks(ObjectReader* reader, const Json::Object& object, Entry* entry) {
  std::vector<Position> positions;
  const Json* named = Find(object, "check");
  if (named == nullptr || !std::holds_alternative<Json::Array>(named->value)) {
    std::string check;
    reader->RequiredString("check", "name the check, as in \"check\": \"driver.load\"", &check);
    if (check.empty()) return {};
    entry->checks.push_back(std::move(check));
    return {named->position};
  }
  reader->Strings("check", [&](const std::string& check, const Position& position) {
    if (std::count(entry->checks.begin(), entry->checks.end(), check) > 0)
      return reader->Report(position, Quote(check) + " is listed twice; remove one");
    reader->Limit("\"check\"", check, position, kMaxNameCharacters);
    entry->checks.push_back(check);
    positions.push_back(position);
  });
  if (std::get<Json::Array>(named->value).empty())
    reader->Report(named->position, "\"check\" is an empty list; name a check, as in \"driver.load\"");
  return positions;
}

void ReadAllowedSkips(ObjectReader* reader, Entry* entry) {
  reader->Strings("allow_skip", [&](const std::string& text, const Position& position) {
    SkipKind kind;
    if (Parse(text, &kind)) {
      const bool known = std::count(entry->allow_skip.begin(), entry->allow_skip.end(), kind) > 0;
      if (!known) entry->allow_skip.push_back(kind);
      return;
    }
    const std::vector<std::string> known = {"unsupported", "absent", "memory", "version"};
    reader->Report(position, Quote(text) + " is not a kind of skip" + Hint(text, known));
  });
}

Coverage CoverageOf(ObjectReader* reader, const Json::Object& entry, const Matrix& matrix) {
  std::optional<Coverage> cover;
  ReadCover(reader, entry, &cover);
  return matrix.cover.value_or(cover.value_or(Coverage::kAll));
}

}  // namespace

void ReadCover(ObjectReader* reader, const Json::Object& object, std::optional<Coverage>* cover) {
  std::string text;
  reader->String("cover", &text);
  if (text == "pairs") *cover = Coverage::kPairs;
  if (text == "all") *cover = Coverage::kAll;
  if (text.empty() || *cover) return;
  const std::vector<std::string> known = {"pairs", "all"};
  reader->Report(Find(object, "cover")->position,
                 "\"cover\" must be \"pairs\" or \"all\", found " + Quote(text) + Hint(text, known));
}

void ReadEntry(const Json& json, const Matrix& matrix, std::vector<Problem>* problems,
               std::vector<Entry>* out) {
  const auto* object = std::get_if<Json::Object>(&json.value);
  if (object == nullptr) {
    AddProblem(problems, json.position, "an entry of \"checks\" must be an object, found " + Describe(json));
    return;
  }
  ObjectReader reader(*object, json.position, "an entry of \"checks\"", problems);
  Entry entry;
  entry.position = json.position;
  const std::vector<Position> checks_at = ReadChecks(&reader, *object, &entry);
  ReadEntryNames(&reader, *object, &entry);
  ReadAxes(&reader, &entry);
  entry.cover = CoverageOf(&reader, *object, matrix);
  ReadCombinations(&reader, "exclude", entry, &entry.exclude);
  ReadSlow(&reader, *object, &entry);
  ReadAllowedSkips(&reader, &entry);
  reader.Timeout("timeout_s", &entry.timeout_s);
  reader.Bool("required", &entry.required);
  reader.Bool("allow_flaky", &entry.allow_flaky);
  reader.Percent("max_slowdown_percent", &entry.max_slowdown_percent);
  reader.Strings("subjects", [&](const std::string& text, const Position& position) {
    std::vector<std::string> known;
    for (const SubjectInfo& subject : matrix.subjects) known.push_back(subject.name);
    if (matrix.automatic_subjects) {
      reader.Report(position,
                    Quote(text) +
                        " is not a subject of the matrix, which takes the image's subjects (\"subjects\": "
                        "\"auto\"); name them there to choose among them");
    } else if (std::find(known.begin(), known.end(), text) == known.end()) {
      reader.Report(position, Quote(text) + " is not a subject of the matrix" + Hint(text, known));
    } else if (std::find(entry.subjects.begin(), entry.subjects.end(), text) == entry.subjects.end()) {
      entry.subjects.push_back(text);
    }
  });
  const Json* subjects = Find(*object, "subjects");
  const auto* list = subjects == nullptr ? nullptr : std::get_if<Json::Array>(&subjects->value);
  if (list != nullptr && list->empty()) {
    reader.Report(subjects->position, "\"subjects\" is empty; leave it out to test all of them");
  }
  // Near to "exclude" in letters and the contrary of it in sense.
  reader.Finish(
      {{"include", "\"axes\" lists the values to combine; write a separate entry for any other case"}});
  const std::vector<std::string> checks = entry.checks;
  if (checks.size() == 1) entry.checks.clear();
  for (size_t i = 0; i < checks.size(); ++i) {
    entry.check = checks[i];
    entry.check_position = checks_at[i];
    out->push_back(entry);
  }
}

}  // namespace cudnn_ci
