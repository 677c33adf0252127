#include "model/knowledge/knowledge.h"

#include <cudnn_ci/facts.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "model/json/json_parse.h"
#include "model/knowledge/knowledge_format.h"
#include "model/knowledge/knowledge_reader.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using Problems = std::vector<Problem>;

constexpr size_t kMostNotices = 50;

// The schema that a file says it is of; empty, and a problem: none that is known.
std::string SchemaOf(const Json& json, bool base, Problems* problems) {
  const auto* object = std::get_if<Json::Object>(&json.value);
  if (object == nullptr) {
    AddProblem(problems, json.position,
               "a file of knowledge must be an object in braces { }, found " + Describe(json));
    return {};
  }
  std::vector<std::string> known;
  for (const FileFormat& format : KnowledgeFormats()) known.emplace_back(format.schema);
  if (!base) known.emplace_back(kCompatibilitySchema);
  const Json* schema = Find(*object, "schema");
  const auto* text = schema == nullptr ? nullptr : std::get_if<std::string>(&schema->value);
  if (text != nullptr && std::find(known.begin(), known.end(), *text) != known.end()) return *text;
  if (text == nullptr)
    AddProblem(problems, schema == nullptr ? json.position : schema->position,
               "\"schema\" is missing or no string; write one of those that are known, as in \"schema\": " +
                   Quote(known.front()));
  else
    AddProblem(problems, schema->position,
               "the schema " + Quote(*text) + " is not known" + Hint(*text, known));
  return {};
}

// Who may write a file decides what is judged: one of somebody else's that others may write is not read.
std::string WhyNotTrusted(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 || st.st_uid == geteuid())
    return {};
  return "refused: writable by others and owned by user " + std::to_string(st.st_uid) + ", not by user " +
         std::to_string(geteuid()) + "; chmod go-w it";
}

// The files of a folder by name, or the file itself.
std::vector<std::string> FilesOf(const std::string& path, Problems* problems) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.front() != '.' && name.ends_with(".json") && !name.ends_with(".schema.json"))
      files.push_back(path + "/" + name);
  }
  if (error) AddProblem(problems, {path, 0, 0}, "the folder cannot be read: " + error.message());
  if (!error && files.empty())
    AddProblem(problems, {path, 0, 0}, "the folder holds no file of knowledge (*.json)");
  std::sort(files.begin(), files.end());
  return files;
}

// Whether two rows of one key say the same.
bool SameRow(const KnowledgeRow& a, const KnowledgeRow& b) {
  return a.values == b.values && a.source == b.source && a.confidence == b.confidence;
}

bool IsBaseOnly(const std::string& list) {
  for (const FileFormat& format : KnowledgeFormats())
    for (const ListFormat& one : format.lists)
      if (list == one.name) return one.base_only;
  return false;
}

class Loader {
 public:
  explicit Loader(Compatibility* table) : table_(table) {}

  void ReadBase(const std::string& folder) {
    for (const FileFormat& format : KnowledgeFormats())
      if (format.file != nullptr) ReadFileOf(folder + "/" + format.file, "", format.schema);
  }
  void ReadPlace(const KnowledgePlace& place) {
    for (const std::string& path : FilesOf(place.path, &problems_)) ReadFileOf(path, place.from, "");
  }

  // What refers to rows that are nowhere, and how much there is.
  void JudgeWhole() {
    if (noted_ > kMostNotices)
      knowledge_.notices.push_back(
          {NoticeCode::kKnowledgeCut, {{"count", std::to_string(noted_ - kMostNotices)}}});
    for (const FileFormat& format : KnowledgeFormats())
      for (const ListFormat& list : format.lists)
        for (const Reference& reference : list.references) JudgeReferences(list, reference);
    size_t bytes = 0;
    for (const auto& [key, value] : EntriesOf(knowledge_)) bytes += key.size() + value.size();
    if (bytes > kMaxKnowledgeEntryBytes)
      AddProblem(&problems_, {knowledge_.files.back().path, 0, 0},
                 "with this file the rows for plugins take more than " +
                     std::to_string(kMaxKnowledgeEntryBytes) + " bytes; leave out rows");
  }

  Problems& problems() { return problems_; }
  Knowledge& knowledge() { return knowledge_; }

 private:
  // `wanted`: the schema of a file that comes with cudnn-ci; empty: it is another one.
  void ReadFileOf(const std::string& path, const std::string& from, const std::string& wanted) {
    const bool base = !wanted.empty();
    if (knowledge_.files.size() >= kMaxKnowledgeFiles)
      return AddProblem(&problems_, {path, 0, 0},
                        "more than " + std::to_string(kMaxKnowledgeFiles) + " files of knowledge");
    if (const std::string why = base ? "" : WhyNotTrusted(path); !why.empty())
      return AddProblem(&problems_, {path, 0, 0}, why);
    const Result<std::string> text = ReadFile(path, kMaxJsonBytes);
    if (!text) {
      const std::string& error = text.error();
      const std::string reason = error.starts_with(path + ": ") ? error.substr(path.size() + 2) : error;
      return AddProblem(&problems_, {path, 0, 0}, reason + (base ? "; repair the installation" : ""));
    }
    auto parsed = ParseJson(*text, path);
    if (auto* found = std::get_if<Problems>(&parsed)) {
      problems_.insert(problems_.end(), found->begin(), found->end());
      return;
    }
    const Json& json = std::get<Json>(parsed);
    const std::string schema = SchemaOf(json, base, &problems_);
    if (schema.empty()) return;
    if (base && schema != wanted)
      return AddProblem(&problems_, {path, 0, 0}, "is of " + Quote(schema) + ", not of " + Quote(wanted));
    knowledge_.files.push_back({schema, "", path, Sha256Hex(*text), from});
    if (schema == kCompatibilitySchema)
      AddFacts(json);
    else
      AddRows(ReadKnowledgeFile(json, schema, base, &knowledge_.files.back().as_of, &problems_), base);
  }

  void AddRows(std::vector<KnowledgeRow> rows, bool base) {
    for (KnowledgeRow& row : rows) {
      row.file = knowledge_.files.size() - 1;
      const auto known = places_.find({row.list, row.key});
      if (known != places_.end() && SameRow(knowledge_.rows[known->second], row)) continue;
      if (!base && IsBaseOnly(row.list)) {
        Note({NoticeCode::kKnowledgeNotTaken,
              {{"row", row.list + " " + row.key}, {"path", knowledge_.files.back().path}}});
      } else if (known == places_.end()) {
        places_[{row.list, row.key}] = knowledge_.rows.size();
        knowledge_.rows.push_back(std::move(row));
      } else if (KnowledgeRow& earlier = knowledge_.rows[known->second];
                 MayReplace(knowledge_.files[earlier.file], row.list + " " + row.key)) {
        earlier = std::move(row);
      }
    }
  }

  // Whether the file that is read may replace a row of an earlier one, by its day. Notes the answer.
  bool MayReplace(const KnowledgeFile& earlier, const std::string& row) {
    const KnowledgeFile& file = knowledge_.files.back();
    const bool may = file.as_of >= earlier.as_of;
    Note({may ? NoticeCode::kKnowledgeReplaced : NoticeCode::kKnowledgeOutdated,
          {{"row", row},
           {"path", file.path},
           {"as_of", file.as_of},
           {"earlier", earlier.path},
           {"earlier_as_of", earlier.as_of}}});
    return may;
  }

  void Note(Notice notice) {
    if (++noted_ <= kMostNotices) knowledge_.notices.push_back(std::move(notice));
  }

  void AddFacts(const Json& json) {
    Compatibility more = ReadCompatibility(json, true, &problems_);
    knowledge_.files.back().as_of = more.identity.as_of;
    KnowledgeFile earlier{kCompatibilitySchema, table_->identity.as_of, table_->identity.path, "", ""};
    AddCompatibility(more, table_, [&](const std::string& row) { return MayReplace(earlier, row); });
    size_t bytes = 0;
    for (const auto& [key, value] : table_->entries) bytes += key.size() + value.size();
    if (bytes > kMaxCompatibilityEntryBytes)
      AddProblem(&problems_, json.position,
                 "with this file the entries of the version facts take more than " +
                     std::to_string(kMaxCompatibilityEntryBytes) + " bytes; leave out rows");
  }

  void JudgeReferences(const ListFormat& list, const Reference& reference) {
    std::set<std::string> targets;
    for (const KnowledgeRow* row : knowledge_.Rows(reference.list))
      targets.insert(Knowledge::Value(*row, reference.target));
    for (const KnowledgeRow* row : knowledge_.Rows(list.name)) {
      const std::string value = Knowledge::Value(*row, reference.field);
      if (value.empty() || targets.count(value) > 0) continue;
      AddProblem(&problems_, row->position,
                 Quote(reference.field) + " " + Quote(value) + " is none of " + Quote(reference.list) +
                     Hint(value, {targets.begin(), targets.end()}));
    }
  }

  Compatibility* table_;
  Knowledge knowledge_;
  std::map<std::pair<std::string, std::string>, size_t> places_;  // of rows, by list and key
  Problems problems_;
  size_t noted_ = 0;  // notices that there would be without a bound
};

// Finding and FindingInfo have the same members for it.
template <class F>
void Apply(const Knowledge& knowledge, F* finding) {
  for (const KnowledgeRow* row : knowledge.Rows("remedies")) {
    if (row->key != finding->slug) continue;
    finding->remedy = Knowledge::Value(*row, "remedy");
    if (std::string link = Knowledge::Value(*row, "link"); !link.empty()) finding->link = std::move(link);
    if (std::string command = Knowledge::Value(*row, "command"); !command.empty()) {
      finding->command = std::move(command);
      finding->where = Where::kNone;
      Parse(Knowledge::Value(*row, "where"), &finding->where);
    }
  }
}

}  // namespace

void ApplyRemedy(const Knowledge& knowledge, Finding* finding) { Apply(knowledge, finding); }
void ApplyRemedy(const Knowledge& knowledge, FindingInfo* finding) { Apply(knowledge, finding); }

std::vector<const KnowledgeRow*> Knowledge::Rows(const std::string& list) const {
  std::vector<const KnowledgeRow*> found;
  for (const KnowledgeRow& row : rows)
    if (row.list == list) found.push_back(&row);
  return found;
}

std::string Knowledge::Value(const KnowledgeRow& row, const std::string& field) {
  const auto value = row.values.find(field);
  return value == row.values.end() ? "" : value->second;
}

std::variant<Knowledge, Problems> LoadKnowledge(const std::string& base,
                                                const std::vector<KnowledgePlace>& places,
                                                Compatibility* table) {
  Loader loader(table);
  loader.ReadBase(base);
  for (const KnowledgePlace& place : places) loader.ReadPlace(place);
  if (loader.problems().empty()) loader.JudgeWhole();
  if (loader.problems().empty()) return std::move(loader.knowledge());
  std::stable_sort(loader.problems().begin(), loader.problems().end(),
                   [](const Problem& a, const Problem& b) {
                     return std::tie(a.position.file, a.position.line, a.position.column) <
                            std::tie(b.position.file, b.position.line, b.position.column);
                   });
  return std::move(loader.problems());
}

PackageNames PackageNamesOf(const Knowledge& knowledge) {
  PackageNames names;
  for (const KnowledgeRow* row : knowledge.Rows("packages")) {
    const std::string name = Knowledge::Value(*row, "name"), title = Knowledge::Value(*row, "framework");
    if (Knowledge::Value(*row, "manager") != "python") continue;
    if (!title.empty()) names.frameworks.push_back({name, title});
    if (Knowledge::Value(*row, "library") == "cudnn" && name.ends_with("#*")) names.cudnn.push_back(name);
  }
  return names;
}

std::map<std::string, std::string> EntriesOf(const Knowledge& knowledge) {
  std::map<std::string, std::string> entries;
  std::map<std::string, int> counts;
  for (const FileFormat& format : KnowledgeFormats())
    for (const ListFormat& list : format.lists)
      for (const KnowledgeRow* row : knowledge.Rows(list.name))
        if (list.entry != nullptr) entries[list.entry + std::to_string(counts[list.entry]++)] = row->entry;
  return entries;
}

}  // namespace cudnn_ci
