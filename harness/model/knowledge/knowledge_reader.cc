#include "model/knowledge/knowledge_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "image/packages/python_metadata.h"
#include "model/knowledge/knowledge_format.h"
#include "model/matrix/compatibility_words.h"
#include "model/matrix/matrix_reader.h"
#include "model/record/finding.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

using Out = nlohmann::ordered_json;

constexpr size_t kMostName = 120, kMostPath = 200, kMostWords = 1000, kMostItems = 100;

// Whether all characters are letters, digits, "._+-" or one of `more`.
bool HasOnly(const std::string& text, const std::string& more) {
  static const std::string kName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
  return text.find_first_not_of(kName + more) == std::string::npos;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; }

bool IsNameOf(const std::string& text, const std::string& more) {
  return !text.empty() && text.size() <= kMostName && HasOnly(text, more) && text != "." && text != "..";
}

// A name that may hold "#" and end in "*". Of two characters before it, so that it is of few packages.
bool IsNamePattern(const std::string& text) {
  if (!IsNameOf(text, "*#") || text.find_first_of("._+-#*") == 0) return false;
  return text.find('*') == std::string::npos || (text.find('*') == text.size() - 1 && text.size() > 2);
}

// The same in the form that Python's installers compare; "-" before "*" is of it.
bool IsPythonPattern(const std::string& text) {
  return IsNamePattern(text) && NormalizedName(text) == text && text.find('+') == std::string::npos &&
         text.back() != '-';
}

bool IsModule(const std::string& text) {
  return IsNameOf(text, "") && text.find_first_of("0123456789") != 0 &&
         text.find_first_of(".+-") == std::string::npos;
}

bool IsFindingId(const std::string& text) {
  return !text.empty() && text.size() <= kMostName &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

bool IsBlank(const std::string& text) { return text.find_first_not_of(' ') == std::string::npos; }

bool HasFewStars(const std::string& text) { return std::count(text.begin(), text.end(), '*') <= 4; }

// A path that leads nowhere but below the folder that it is relative to.
bool IsPathOf(const std::string& text, const std::string& more) {
  if (text.size() > kMostPath) return false;
  for (const std::string& part : Split(text, '/'))
    if (!IsNameOf(part, more)) return false;
  return true;
}

bool IsRange(const std::string& text) {
  std::string error;
  return text.size() <= kMostName && ParseRange(text, &error).has_value();
}

// Whether a text is such a value, and what is expected in words.
struct Rule {
  bool (*holds)(const std::string&);
  const char* expected;
};

Rule RuleOf(FieldKind kind) {
  switch (kind) {
    case FieldKind::kNamePattern:
      return {
          IsNamePattern,
          "a name that begins with a letter or digit, of these, \"._+-\", \"#\" (a digit) and, behind two "
          "others at its end, \"*\" (any text), of at most 120"};
    case FieldKind::kModule:
      return {IsModule, "a module's name of letters, digits and \"_\", of at most 120"};
    case FieldKind::kPythonName:
    case FieldKind::kPythonNames:
      return {[](const std::string& t) { return IsPythonPattern(t) && HasOnly(t, ""); },
              "a Python package's normalised name: small letters, digits and single \"-\", of at most 120"};
    case FieldKind::kPythonPattern:
      return {IsPythonPattern,
              "a Python package's normalised name: small letters, digits, single \"-\", \"#\" (a digit) and, "
              "behind two others at its end, \"*\" (any text), of at most 120"};
    case FieldKind::kFinding:
      return {IsFindingId, "a finding's id without its blame, as in \"library-missing\", of at most 120"};
    case FieldKind::kFilePattern:
      return {[](const std::string& t) { return IsNameOf(t, "*") && HasFewStars(t); },
              "a file's name of letters, digits, \"._+-\" and at most four \"*\" (any text), of at most 120"};
    case FieldKind::kPath:
    case FieldKind::kPaths:
      return {[](const std::string& t) { return IsPathOf(t, ""); },
              "a path below a folder of packages, as in \"torch/lib/libtorch.so\", without \"..\""};
    case FieldKind::kPathPattern:
    case FieldKind::kPathPatterns:
      return {[](const std::string& t) { return IsPathOf(t, "*%") && HasFewStars(t); },
              "a path below a folder of packages, as in \"nvidia/cu%/lib\", without \"..\""};
    case FieldKind::kText:
      return {[](const std::string& t) {
                return !IsBlank(t) && t.size() <= kMostWords && std::none_of(t.begin(), t.end(), IsControl);
              },
              "words on one line, of at most 1000 bytes"};
    case FieldKind::kRange:
      return {IsRange, "a range of versions, as in \">=3.1 <3.6\""};
    case FieldKind::kCommand:
      return {[](const std::string& t) { return IsCommand(t) && !IsBlank(t); },
              "a command on one line, of printable characters, of at most 1000"};
    case FieldKind::kUrl:
      return {[](const std::string& t) { return IsUrl(t) && t.size() <= kMostPath && IsPrintableAscii(t); },
              "an address that begins with https://, of at most 200"};
    case FieldKind::kCode:
      return {[](const std::string& t) {
                return IsNameOf(t, "") && t.size() > 3 && t.compare(t.size() - 3, 3, ".py") == 0;
              },
              "the name of a file of Python in the same folder, as in \"acme.py\""};
    default:
      return {[](const std::string& t) { return IsNameOf(t, ""); },
              "a name of letters, digits and \"._+-\", of at most 120"};
  }
}

// One value as text, and as it is told to plugins.
class ValueReader {
 public:
  ValueReader(ObjectReader* reader, std::vector<Problem>* problems) : reader_(reader), problems_(problems) {}

  // Null: there is none, or it is wrong, which is reported.
  Out Read(const FieldFormat& field) {
    const Json* json =
        field.required ? reader_->Require(field.key, "write " + Expected(field)) : reader_->Get(field.key);
    if (json == nullptr) return nullptr;
    Out value = ValueOf(field, *json);
    return value;
  }

 private:
  static std::string Expected(const FieldFormat& field) {
    switch (field.kind) {
      case FieldKind::kWord: {
        std::vector<std::string> quoted;
        for (const std::string& word : field.words) quoted.push_back(Quote(word));
        return "one of " + Join(quoted, ", ");
      }
      case FieldKind::kFlag:
        return "true or false";
      case FieldKind::kNumber:
        return "a number from 1 to 99";
      case FieldKind::kNames:
      case FieldKind::kPythonNames:
      case FieldKind::kPaths:
      case FieldKind::kPathPatterns:
        return "a list of 1 to 100 strings";
      case FieldKind::kSteps:
        return "a list of steps, {\"open\": ..., \"in\": [...], \"need\": ...}, at most 100";
      default:
        return RuleOf(field.kind).expected;
    }
  }

  Out ValueOf(const FieldFormat& field, const Json& json) {
    switch (field.kind) {
      case FieldKind::kFlag:
        if (const bool* flag = std::get_if<bool>(&json.value)) return *flag;
        break;
      case FieldKind::kNumber:
        if (const auto* number = std::get_if<int64_t>(&json.value); number && *number >= 1 && *number <= 99)
          return *number;
        break;
      case FieldKind::kNames:
      case FieldKind::kPythonNames:
      case FieldKind::kPaths:
      case FieldKind::kPathPatterns:
        return Names(field, json);
      case FieldKind::kSteps:
        return Steps(field, json);
      default:
        if (const auto* text = std::get_if<std::string>(&json.value); text && Fits(field, *text))
          return *text;
        if (const auto* text = std::get_if<std::string>(&json.value); text && !field.words.empty()) {
          reader_->Report(json.position, Quote(field.key) + " must be " + Expected(field) + ", found " +
                                             Describe(json) + Hint(*text, field.words));
          return nullptr;
        }
        if (const auto* text = std::get_if<std::string>(&json.value)) {
          const std::string near = NearestTo(field.kind, *text);
          reader_->Report(json.position, Quote(field.key) + " must be " + Expected(field) + ", found " +
                                             Describe(json) + (near.empty() ? "" : "; write " + Quote(near)));
          return nullptr;
        }
    }
    reader_->WrongType(field.key, Expected(field), json);
    return nullptr;
  }

  // What was meant, in the form that is expected; empty: nothing is near.
  static std::string NearestTo(FieldKind kind, const std::string& text) {
    std::string near;
    if (kind == FieldKind::kPythonName || kind == FieldKind::kPythonPattern) near = NormalizedName(text);
    if (kind == FieldKind::kFinding) near = text.substr(text.rfind('.') + 1);
    return near.empty() || !RuleOf(kind).holds(near) ? "" : near;
  }

  static bool Fits(const FieldFormat& field, const std::string& text) {
    if (field.kind != FieldKind::kWord) return RuleOf(field.kind).holds(text);
    return std::find(field.words.begin(), field.words.end(), text) != field.words.end();
  }

  // The list, if it is one of a size that is allowed.
  const Json::Array* Items(const FieldFormat& field, const Json& json) {
    const auto* list = std::get_if<Json::Array>(&json.value);
    if (list != nullptr && !list->empty() && list->size() <= kMostItems) return list;
    reader_->WrongType(field.key, Expected(field), json);
    return nullptr;
  }

  Out Names(const FieldFormat& field, const Json& json) {
    const Json::Array* list = Items(field, json);
    if (list == nullptr) return nullptr;
    Out values = Out::array();
    for (const Json& item : *list) {
      const auto* text = std::get_if<std::string>(&item.value);
      if (text != nullptr && RuleOf(field.kind).holds(*text)) {
        values.push_back(*text);
        continue;
      }
      reader_->Report(item.position, Quote(field.key) + " must be a list in which each item is " +
                                         RuleOf(field.kind).expected + ", found " + Describe(item) +
                                         " in it");
    }
    return values;
  }

  Out Steps(const FieldFormat& field, const Json& json) {
    const Json::Array* list = Items(field, json);
    if (list == nullptr) return nullptr;
    Out values = Out::array();
    for (const Json& item : *list) {
      const auto* object = std::get_if<Json::Object>(&item.value);
      if (object == nullptr) {
        reader_->Report(item.position,
                        "a step of " + Quote(field.key) + " must be an object, found " + Describe(item));
        continue;
      }
      ObjectReader step(*object, item.position, "a step of " + Quote(field.key), problems_);
      ValueReader reader(&step, problems_);
      Out value;
      for (const FieldFormat& one : StepFields())
        if (Out part = reader.Read(one); !part.is_null()) value[one.key] = std::move(part);
      step.Finish();
      values.push_back(std::move(value));
    }
    return values;
  }

  ObjectReader* reader_;
  std::vector<Problem>* problems_;
};

// The top of a file.
class File {
 public:
  File(const Json& json, bool base, std::vector<Problem>* problems)
      : top_(std::get<Json::Object>(json.value), json.position, "the file", problems),
        base_(base),
        problems_(problems) {}

  std::vector<KnowledgeRow> Read(const FileFormat& format, std::string* as_of) {
    std::string unused;
    top_.Get("schema");
    top_.String("$schema", &unused, kMaxTextCharacters);
    top_.RequiredString("as_of", "write the day of the rows, as in \"2026-11-20\"", as_of);
    if (!as_of->empty() && !IsDate(*as_of))
      top_.Report(top_.Get("as_of")->position,
                  "\"as_of\" must be a day of the calendar such as \"2026-11-20\", found " + Quote(*as_of));
    ReadSources();
    for (const ListFormat& list : format.lists) ReadList(list);
    top_.Finish();
    return std::move(rows_);
  }

 private:
  void ReadSources() {
    const Json::Object* sources = top_.Object("sources");
    if (sources == nullptr) return;
    for (const Json::Member& member : *sources) {
      const auto* text = std::get_if<std::string>(&member.value.value);
      const Rule rule = RuleOf(FieldKind::kText);
      sources_[member.key] = text == nullptr ? "" : *text;
      if (text == nullptr || !rule.holds(*text) || member.key.empty())
        top_.WrongType("sources." + member.key, "a page's address, or words", member.value);
    }
  }

  void ReadList(const ListFormat& list) {
    const Json* json =
        base_ ? top_.Require(list.name, "list its rows, [] if there are none") : top_.Get(list.name);
    const Json::Array* rows = json == nullptr ? nullptr : top_.List(list.name);
    if (rows == nullptr) return;
    if (rows->size() > kMaxKnowledgeRows)
      return top_.Report(json->position,
                         Quote(list.name) + " has more than " + std::to_string(kMaxKnowledgeRows) + " rows");
    for (const Json& item : *rows) ReadRow(list, item);
  }

  void ReadRow(const ListFormat& list, const Json& item) {
    const std::string where = "a row of " + Quote(list.name);
    const auto* object = std::get_if<Json::Object>(&item.value);
    if (object == nullptr)
      return top_.Report(item.position, where + " must be an object, found " + Describe(item));
    ObjectReader reader(*object, item.position, where, problems_);
    ValueReader values(&reader, problems_);
    KnowledgeRow row;
    Out entry;
    row.list = list.name;
    row.position = item.position;
    for (FieldFormat field : list.fields) {
      if (list.name_of_manager != nullptr && std::string(field.key) == list.name_of_manager &&
          Knowledge::Value(row, "manager") == "python")
        field.kind = FieldKind::kPythonPattern;
      Out value = values.Read(field);
      if (value.is_null()) continue;
      row.values[field.key] = value.is_string() ? value.get<std::string>() : value.dump();
      entry[field.key] = std::move(value);
    }
    CheckTogether(list, &reader);
    Provenance(&reader, &row);
    reader.Finish();
    if (list.with_source) entry["source"] = row.source;
    if (list.with_origin && !base_) entry["added"] = true;
    for (const char* key : list.key) row.key += (row.key.empty() ? "" : " ") + Knowledge::Value(row, key);
    if (!keys_.insert({list.name, row.key}).second)
      top_.Report(item.position, "two rows of " + Quote(list.name) + " have the key " + Quote(row.key));
    if (list.entry != nullptr) row.entry = entry.dump(-1, ' ', true);
    if (row.entry.size() > kMaxKnowledgeEntry)
      top_.Report(item.position, where + " takes more than " + std::to_string(kMaxKnowledgeEntry) + " bytes");
    rows_.push_back(std::move(row));
  }

  static void CheckTogether(const ListFormat& list, ObjectReader* reader) {
    for (const char* has : list.together)
      for (const char* lacks : list.together)
        if (reader->Get(has) != nullptr && reader->Get(lacks) == nullptr)
          reader->Report(reader->Get(has)->position,
                         Quote(has) + " says nothing without " + Quote(lacks) + "; write both, or none");
  }

  // Where a row is from, and how sure it is.
  void Provenance(ObjectReader* reader, KnowledgeRow* row) {
    reader->RequiredString("source", "name one of \"sources\", or a page", &row->source);
    reader->RequiredString("confidence", "write \"sure\", \"likely\" or \"unsure\"", &row->confidence);
    const Json* at = reader->Get("source");
    const auto named = sources_.find(row->source);
    if (named != sources_.end()) {
      row->source = named->second;
    } else if (!row->source.empty() && !RuleOf(FieldKind::kUrl).holds(row->source)) {
      std::vector<std::string> names;
      for (const auto& [name, address] : sources_) names.push_back(name);
      reader->Report(at->position, "the source " + Quote(row->source) +
                                       " is neither one of \"sources\" nor an https:// address" +
                                       Hint(row->source, names));
    }
    const std::vector<std::string> known = {"sure", "likely", "unsure"};
    if (!row->confidence.empty() && std::find(known.begin(), known.end(), row->confidence) == known.end())
      reader->Report(reader->Get("confidence")->position,
                     "\"confidence\" must be \"sure\", \"likely\" or \"unsure\", found " +
                         Describe(*reader->Get("confidence")));
  }

  ObjectReader top_;
  const bool base_;
  std::vector<Problem>* problems_;
  std::map<std::string, std::string> sources_;  // addresses or words, by name
  std::set<std::pair<std::string, std::string>> keys_;
  std::vector<KnowledgeRow> rows_;
};

}  // namespace

std::vector<KnowledgeRow> ReadKnowledgeFile(const Json& json, const std::string& schema, bool base,
                                            std::string* as_of, std::vector<Problem>* problems) {
  const auto& formats = KnowledgeFormats();
  const auto format = std::find_if(formats.begin(), formats.end(),
                                   [&](const FileFormat& one) { return schema == one.schema; });
  return File(json, base, problems).Read(*format, as_of);
}

}  // namespace cudnn_ci
