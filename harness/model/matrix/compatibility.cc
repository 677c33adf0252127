// From the file to single entries: the meaning of every key, and what is wrong with its value.
#include "model/matrix/compatibility.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "model/matrix/compatibility_words.h"
#include "model/matrix/known_regressions.h"
#include "model/matrix/matrix_reader.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

using Problems = std::vector<Problem>;

// The file's top, and what is made from it.
class Table {
 public:
  // `part`: lists may be missing.
  Table(const Json& json, bool part, Problems* problems)
      : top_(std::get<Json::Object>(json.value), json.position, "the table", problems),
        top_position_(json.position),
        part_(part),
        problems_(problems) {}

  void Read(Compatibility* table);

 private:
  using Check = bool (*)(const std::string&);

  // What is not known has no entry.
  void Put(const std::string& key, const std::string& value) {
    if (!value.empty()) entries_[key] = value;
  }
  void ReadSources();
  void ReadFloors();
  void ReadToolkits();
  void ReadBranches();
  void ReadForwardCompatibility();
  void ReadVersions(const char* section, const char* key, const char* what, const std::string& prefix);
  void ReadCards();
  void ReadCudnn();
  void ReadCudnnRow(const Json& item, std::map<std::string, int>* counts, std::string* newest);
  void ReadLibraries();
  void ReadRegressions();

  // Null, and a problem: it is no object.
  const Json::Object* Row(const Json& json, const char* where);
  // Where a row is from, and how sure it is. Returns the source's address or words.
  std::string Provenance(ObjectReader* reader);
  // A version below `key`; empty: there is none, or it is wrong, which is reported.
  std::string VersionAt(ObjectReader* reader, const char* key, bool may_be_null = false);
  // The members of the object below `key` whose names satisfy `check`.
  const Json::Object* Members(ObjectReader* reader, const char* key, Check check, const char* what);
  bool FewEnough(size_t count, const Position& position, const char* key);
  void ReadSection(const char* section, const char* key, Check check, const char* what,
                   const std::function<void(ObjectReader*, const Json::Member&)>& each);
  // The text of `json` if it is a version, else empty, and reported.
  std::string VersionOf(ObjectReader* reader, const std::string& name, const Json& json);

  ObjectReader top_;
  const Position top_position_;
  const bool part_;
  Problems* problems_;
  std::map<std::string, std::string> sources_;  // addresses or words, by name
  std::map<std::string, std::string> entries_;
  std::map<std::string, Position> rows_;  // of numbered rows
};

const Json::Object* Table::Row(const Json& json, const char* where) {
  const auto* object = std::get_if<Json::Object>(&json.value);
  if (object == nullptr)
    AddProblem(problems_, json.position, std::string(where) + " must be an object, found " + Describe(json));
  return object;
}

std::string Table::Provenance(ObjectReader* reader) {
  std::string source, confidence;
  reader->RequiredString("source", "name one of \"sources\", or a page", &source);
  reader->RequiredString("confidence", "write \"sure\", \"likely\" or \"unsure\"", &confidence);
  const Json* at = reader->Get("source");
  const auto named = sources_.find(source);
  if (!source.empty() && !IsUrl(source) && named == sources_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, address] : sources_) names.push_back(name);
    reader->Report(at->position, "the source " + Quote(source) +
                                     " is neither one of \"sources\" nor an https:// address" +
                                     Hint(source, names));
  }
  at = reader->Get("confidence");
  if (!confidence.empty() && confidence != "sure" && confidence != "likely" && confidence != "unsure")
    reader->Report(at->position,
                   "\"confidence\" must be \"sure\", \"likely\" or \"unsure\", found " + Describe(*at));
  return named == sources_.end() ? source : named->second;
}

std::string Table::VersionOf(ObjectReader* reader, const std::string& name, const Json& json) {
  const auto* text = std::get_if<std::string>(&json.value);
  if (text == nullptr || !IsVersion(*text)) {
    reader->WrongType(name, "a version such as \"580.65.06\"", json);
    return {};
  }
  return *text;
}

std::string Table::VersionAt(ObjectReader* reader, const char* key, bool may_be_null) {
  const Json* json = reader->Require(key, may_be_null ? "write null if it is not known" : "write a version");
  if (json == nullptr || (may_be_null && std::holds_alternative<std::nullptr_t>(json->value))) return {};
  return VersionOf(reader, key, *json);
}

bool Table::FewEnough(size_t count, const Position& position, const char* key) {
  if (count <= kMaxCompatibilityRows) return true;
  AddProblem(problems_, position,
             Quote(key) + " has more than " + std::to_string(kMaxCompatibilityRows) + " rows");
  return false;
}

const Json::Object* Table::Members(ObjectReader* reader, const char* key, Check check, const char* what) {
  const Json* json = reader->Require(key, "write an object, {} if nothing is known");
  const Json::Object* object = json == nullptr ? nullptr : reader->Object(key);
  if (object == nullptr || !FewEnough(object->size(), json->position, key)) return nullptr;
  for (const Json::Member& member : *object)
    if (!check(member.key))
      reader->Report(member.position, Quote(member.key) + " in " + Quote(key) + " is not a " + what);
  return object;
}

void Table::ReadSources() {
  const Json::Object* sources = Members(
      &top_, "sources", [](const std::string& name) { return !name.empty(); }, "name of a source");
  if (sources == nullptr) return;
  for (const Json::Member& member : *sources) {
    const auto* text = std::get_if<std::string>(&member.value.value);
    sources_[member.key] = text == nullptr ? "" : *text;
    if (text == nullptr || text->empty())
      top_.WrongType("sources." + member.key, "a page's address, or words", member.value);
    else
      top_.Limit(Quote("sources." + member.key), *text, member.value.position, kMaxTextCharacters);
  }
}

void Table::ReadFloors() {
  const Json::Object* floors =
      Members(&top_, "driver_floor", IsNumber, "major version of CUDA, as in \"12\"");
  if (floors == nullptr) return;
  for (const Json::Member& member : *floors) {
    const Json::Object* row = Row(member.value, "a row of \"driver_floor\"");
    if (row == nullptr) continue;
    ObjectReader reader(*row, member.value.position, "a row of \"driver_floor\"", problems_);
    Put(CCI_COMPATIBILITY_DRIVER_FLOOR + member.key, VersionAt(&reader, "driver"));
    Provenance(&reader);
    reader.Finish();
  }
}

void Table::ReadToolkits() {
  const Json* json = top_.Require("toolkits", "list the releases, newest first");
  const Json::Array* rows = json == nullptr ? nullptr : top_.List("toolkits");
  if (rows == nullptr || !FewEnough(rows->size(), json->position, "toolkits")) return;
  std::string newest;
  for (const Json& item : *rows) {
    const Json::Object* row = Row(item, "a row of \"toolkits\"");
    if (row == nullptr) continue;
    ObjectReader reader(*row, item.position, "a row of \"toolkits\"", problems_);
    const std::string cuda = VersionAt(&reader, "cuda"), driver = VersionAt(&reader, "driver", true);
    const Json* branch = reader.Require("branch", "write the driver's first number");
    if (branch != nullptr && !std::holds_alternative<int64_t>(branch->value))
      reader.WrongType("branch", "the driver's first number, as in 580", *branch);
    Provenance(&reader);
    reader.Finish();
    if (!cuda.empty() && Later(cuda, newest)) newest = cuda;
    if (!cuda.empty() && !driver.empty()) Put(CCI_COMPATIBILITY_TOOLKIT_DRIVER + cuda, driver);
  }
  Put(CCI_COMPATIBILITY_NEWEST_TOOLKIT, newest);
}

// Calls `each` with the members of the object that `key` holds inside the section, which says where it has
// them from.
void Table::ReadSection(const char* section, const char* key, Check check, const char* what,
                        const std::function<void(ObjectReader*, const Json::Member&)>& each) {
  const Json* json = top_.Require(section, "write an object");
  const Json::Object* object = json == nullptr ? nullptr : top_.Object(section);
  if (object == nullptr) return;
  ObjectReader reader(*object, json->position, Quote(section), problems_);
  Provenance(&reader);
  if (const Json::Object* members = Members(&reader, key, check, what))
    for (const Json::Member& member : *members)
      if (check(member.key)) each(&reader, member);
  reader.Finish();
}

void Table::ReadBranches() {
  std::vector<int> known;
  ReadSection("driver_branches", "branches", IsNumber, "branch, as in \"580\"",
              [&](ObjectReader* reader, const Json::Member& member) {
                Put(CCI_COMPATIBILITY_DRIVER_BRANCH + member.key,
                    VersionOf(reader, "branches." + member.key, member.value));
                known.push_back(std::stoi(member.key));
              });
  std::sort(known.begin(), known.end());
  std::string list;
  for (const int branch : known) list += (list.empty() ? "" : " ") + std::to_string(branch);
  Put(CCI_COMPATIBILITY_DRIVER_BRANCHES, list);
}

void Table::ReadForwardCompatibility() {
  ReadSection("forward_compatibility", "branches", IsPackage, "package's version, as in \"13-0\"",
              [&](ObjectReader* reader, const Json::Member& member) {
                const auto* list = std::get_if<Json::Array>(&member.value.value);
                std::string branches;
                bool numbers = list != nullptr && list->size() <= kMaxCompatibilityRows;
                for (size_t i = 0; numbers && i < list->size(); ++i) {
                  const auto* number = std::get_if<int64_t>(&(*list)[i].value);
                  numbers = number != nullptr;
                  if (numbers) branches += (branches.empty() ? "" : " ") + std::to_string(*number);
                }
                if (!numbers)
                  reader->WrongType("branches." + member.key, "a list of driver branches, as in [535, 570]",
                                    member.value);
                Put(CCI_COMPATIBILITY_FORWARD + member.key, branches.empty() ? "none" : branches);
              });
}

// Versions by versions: each member of the object below `key` under its name behind `prefix`.
void Table::ReadVersions(const char* section, const char* key, const char* what, const std::string& prefix) {
  ReadSection(section, key, IsVersion, what, [&](ObjectReader* reader, const Json::Member& member) {
    Put(prefix + member.key, VersionOf(reader, std::string(key) + "." + member.key, member.value));
  });
}

// {"source", "confidence", "capabilities": ["7.0", "7.5"]}
void Table::ReadCards() {
  const Json* json = top_.Get("cards");
  const Json::Object* object = json == nullptr ? nullptr : top_.Object("cards");
  if (object == nullptr) return;
  ObjectReader reader(*object, json->position, "\"cards\"", problems_);
  Provenance(&reader);
  std::string list;
  reader.Require("capabilities", "list them, as in [\"8.0\", \"9.0\"]");
  reader.Strings("capabilities", [&](const std::string& text, const Position& position) {
    if (!IsVersion(text)) reader.Report(position, Quote(text) + " in \"capabilities\" is not a version");
    list += (list.empty() ? "" : " ") + text;
  });
  Put(CCI_COMPATIBILITY_CARDS, list);
  reader.Finish();
}

// One range of releases. Its entries are numbered for each CUDA, in the file's order.
void Table::ReadCudnnRow(const Json& item, std::map<std::string, int>* counts, std::string* newest) {
  const Json::Object* row = Row(item, "a row of \"cudnn\"");
  if (row == nullptr) return;
  ObjectReader reader(*row, item.position, "a row of \"cudnn\"", problems_);
  const std::string from = VersionAt(&reader, "cudnn_from"), to = VersionAt(&reader, "cudnn_to");
  if (!from.empty() && !to.empty() && from != to && Later(from, to))
    reader.Report(item.position, "\"cudnn_from\" " + from + " is later than \"cudnn_to\" " + to);
  if (!to.empty() && Later(to, *newest)) *newest = to;
  std::string toolkits, major;
  reader.Require("cuda", "list the toolkits, as in [\"12.8\"]");
  reader.Strings("cuda", [&](const std::string& text, const Position& position) {
    if (!IsVersion(text)) reader.Report(position, Quote(text) + " in \"cuda\" is not a version");
    toolkits += (toolkits.empty() ? "" : " ") + text;
  });
  if (const Json* json = reader.Require("cuda_major", "write the CUDA that the releases are built for")) {
    if (const auto* number = std::get_if<int64_t>(&json->value))
      major = std::to_string(*number);
    else
      reader.WrongType("cuda_major", "a number, as in 12", *json);
  }
  const std::string prefix = CCI_COMPATIBILITY_CUDNN + major + "." + std::to_string((*counts)[major]++);
  rows_[prefix] = item.position;
  Put(prefix + CCI_COMPATIBILITY_CUDNN_FROM, from);
  Put(prefix + CCI_COMPATIBILITY_CUDNN_TO, to);
  Put(prefix + CCI_COMPATIBILITY_CUDNN_TOOLKITS, toolkits);
  Put(prefix + CCI_COMPATIBILITY_CUDNN_DRIVER, VersionAt(&reader, "driver_min", true));
  Put(prefix + CCI_COMPATIBILITY_CUDNN_LOWEST, VersionAt(&reader, "compute_capability_min", true));
  Put(prefix + CCI_COMPATIBILITY_CUDNN_HIGHEST, VersionAt(&reader, "compute_capability_max", true));
  Provenance(&reader);
  reader.Finish();
}

void Table::ReadCudnn() {
  const Json* json = top_.Require("cudnn", "list the releases");
  const Json::Array* rows = json == nullptr ? nullptr : top_.List("cudnn");
  if (rows == nullptr || !FewEnough(rows->size(), json->position, "cudnn")) return;
  std::map<std::string, int> counts;
  std::string newest;
  for (const Json& item : *rows) ReadCudnnRow(item, &counts, &newest);
  Put(CCI_COMPATIBILITY_NEWEST_CUDNN, newest);
}

// {"9": {"source", "confidence", "libraries": {"libcudnn_ext.so.9": "9.22.0"}}}
void Table::ReadLibraries() {
  const Json::Object* majors =
      Members(&top_, "cudnn_libraries", IsNumber, "major version of cuDNN, as in \"9\"");
  if (majors == nullptr) return;
  for (const Json::Member& major : *majors) {
    const Json::Object* row = Row(major.value, "a row of \"cudnn_libraries\"");
    if (row == nullptr) continue;
    ObjectReader reader(*row, major.value.position, "a row of \"cudnn_libraries\"", problems_);
    Provenance(&reader);
    if (const Json::Object* libraries = Members(&reader, "libraries", IsSoname, "soname of a library"))
      for (const Json::Member& library : *libraries)
        Put(CCI_COMPATIBILITY_CUDNN_LIBRARY + library.key,
            VersionOf(&reader, "libraries." + library.key, library.value));
    reader.Finish();
  }
}

// The one list that a table may leave out.
void Table::ReadRegressions() {
  const Json* json = top_.Get("known_regressions");
  const Json::Array* rows = json == nullptr ? nullptr : top_.List("known_regressions");
  if (rows == nullptr || !FewEnough(rows->size(), json->position, "known_regressions")) return;
  ReadKnownRegressions(
      *rows, [this](ObjectReader* row) { return Provenance(row); }, problems_, &entries_, &rows_);
}

void Table::Read(Compatibility* table) {
  std::string schema, unused;
  const std::string wanted = std::string("write \"schema\": ") + Quote(kCompatibilitySchema);
  top_.RequiredString("schema", wanted, &schema);
  if (const Json* json = top_.Get("schema"); !schema.empty() && schema != kCompatibilitySchema)
    top_.Report(json->position, "the schema " + Quote(schema) + " is not known; " + wanted);
  // Of another kind of file everything else would be wrong too.
  if (schema != kCompatibilitySchema) return;
  top_.String("$schema", &unused, kMaxTextCharacters);
  top_.RequiredString("as_of", "write the day of the facts, as in \"2026-11-20\"", &table->identity.as_of);
  if (const std::string& day = table->identity.as_of; !day.empty() && !IsDate(day))
    top_.Report(top_.Get("as_of")->position,
                "\"as_of\" must be a day of the calendar such as \"2026-11-20\", found " + Quote(day));
  const auto has = [&](const char* key) { return !part_ || top_.Get(key) != nullptr; };
  if (has("sources")) ReadSources();
  if (has("driver_floor")) ReadFloors();
  if (has("toolkits")) ReadToolkits();
  if (has("driver_branches")) ReadBranches();
  if (has("forward_compatibility")) ReadForwardCompatibility();
  if (has("first_toolkit"))
    ReadVersions("first_toolkit", "toolkits", "compute capability, as in \"9.0\"",
                 CCI_COMPATIBILITY_FIRST_TOOLKIT);
  // This and the cards are later than the format: a table may leave them out.
  if (top_.Get("ptx_isa") != nullptr)
    ReadVersions("ptx_isa", "versions", "CUDA version, as in \"12.8\"", CCI_COMPATIBILITY_PTX_ISA);
  ReadCards();
  if (has("cudnn")) ReadCudnn();
  if (has("cudnn_libraries")) ReadLibraries();
  ReadRegressions();
  top_.Finish();
  Put(CCI_COMPATIBILITY_AS_OF, table->identity.as_of);
  size_t bytes = 0;
  for (const auto& [key, value] : entries_) {
    bytes += key.size() + value.size();
    if (key.size() + value.size() > kMaxCompatibilityEntry)
      top_.Report(top_position_, "the entry " + Quote(key.substr(0, 60)) + " takes more than " +
                                     std::to_string(kMaxCompatibilityEntry) + " bytes");
  }
  if (bytes > kMaxCompatibilityEntryBytes)
    top_.Report(top_position_, "the table's entries take more than " +
                                   std::to_string(kMaxCompatibilityEntryBytes) +
                                   " bytes; leave out old rows");
  table->entries = std::move(entries_);
  table->rows = std::move(rows_);
}

}  // namespace

KnowledgeFile Compatibility::FileOf(const std::string& place) const {
  const auto found = added.find(place);
  if (found != added.end()) return found->second;
  return {kCompatibilitySchema, identity.as_of, identity.path, identity.sha256, ""};
}

Compatibility ReadCompatibility(const Json& json, bool part, Problems* problems) {
  Compatibility table;
  Table(json, part, problems).Read(&table);
  return table;
}

}  // namespace cudnn_ci
