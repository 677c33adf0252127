// Reads the files of knowledge, and lays later ones over earlier ones.
#include <cudnn_ci/facts.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "model/json/json_parse.h"
#include "model/knowledge/knowledge.h"
#include "model/knowledge/knowledge_format.h"
#include "model/knowledge/knowledge_reader.h"
#include "model/matrix/matrix_reader.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using Problems = std::vector<Problem>;

constexpr size_t kMostNamed = 1000;        // rows of added files that an earlier file has
constexpr size_t kMostNoticeBytes = 1000;  // of the keys of one notice

// "imports" of a file is a list of cudnn-ci/imports/1: the schemas that have one of the file's lists.
std::vector<std::string> SchemasByLists(const Json::Object& object) {
  std::vector<std::string> schemas;
  for (const FileFormat& format : KnowledgeFormats())
    if (std::any_of(format.lists.begin(), format.lists.end(),
                    [&](const ListFormat& list) { return Find(object, list.name) != nullptr; }))
      schemas.emplace_back(format.schema);
  for (const char* list : {"known_regressions", "driver_floor", "toolkits", "cudnn", "cards"})
    if (Find(object, list) != nullptr) return {kCompatibilitySchema};
  return schemas;
}

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
  const Position& position = schema == nullptr ? json.position : schema->position;
  const std::vector<std::string> likely = SchemasByLists(*object);
  const std::string write = likely.size() == 1
                                ? "write \"schema\": " + Quote(likely.front()) + ", the schema of its lists"
                                : "write one of " + Join(known, ", ");
  if (text == nullptr)
    AddProblem(problems, position, "\"schema\" is missing or not a string; " + write);
  else if (*text == kMatrixSchema)
    AddProblem(problems, position, "this is a matrix; name it with --matrix; " + write);
  else
    AddProblem(problems, position, "the schema " + Quote(*text) + " is not known; " + write);
  return {};
}

// Who may write a file decides what is tested: a file of another user that others may write is not read.
std::string UntrustedReason(const std::string& path) {
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
  const std::string folder = path.ends_with('/') ? path : path + "/";
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.front() != '.' && name.ends_with(".json") && !name.ends_with(".schema.json"))
      files.push_back(folder + name);
  }
  if (error) AddProblem(problems, {path, 0, 0}, "the folder cannot be read: " + error.message());
  if (!error && files.empty())
    AddProblem(problems, {path, 0, 0}, "the folder has no knowledge file (*.json)");
  std::sort(files.begin(), files.end());
  return files;
}

// Lines of printable ASCII.
bool IsPlainText(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c < 0x7F); });
}

// What comes with cudnn-ci under this name: a file, or those of a folder, which may be embedded.
std::vector<std::string> FilesOfBase(const std::string& path) {
  std::vector<std::string> files;
  for (const std::string& name : NamesIn(path))
    if (name.ends_with(".json")) files.push_back(path + "/" + name);
  return files.empty() ? std::vector<std::string>{path} : files;
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
      if (format.file != nullptr)
        for (const std::string& path : FilesOfBase(folder + "/" + format.file))
          ReadFileOf(path, {}, format.schema);
  }
  void ReadPlace(const KnowledgePlace& place) {
    for (const std::string& path : FilesOf(place.path, &problems_)) ReadFileOf(path, place, "");
  }

  // What refers to rows that are nowhere, and how much there is.
  void CheckWhole() {
    for (const Noted& noted : noted_) AddNotices(noted);
    if (named_ > kMostNamed)
      AddProblem(&problems_, {knowledge_.files.back().path, 0, 0},
                 std::to_string(named_) + " rows of the added files replace earlier ones, more than the " +
                     std::to_string(kMostNamed) + " that reports can name; leave out files or rows");
    for (const FileFormat& format : KnowledgeFormats())
      for (const ListFormat& list : format.lists)
        for (const Reference& reference : list.references) CheckReferences(list, reference);
    NameLibraries();
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
  void ReadFileOf(const std::string& path, const KnowledgePlace& place, const std::string& wanted) {
    const bool base = !wanted.empty();
    if (knowledge_.files.size() >= kMaxKnowledgeFiles)
      return AddProblem(&problems_, {path, 0, 0},
                        "more than " + std::to_string(kMaxKnowledgeFiles) + " files of knowledge");
    if (const std::string why = base ? "" : UntrustedReason(path); !why.empty())
      return AddProblem(&problems_, {path, 0, 0}, why);
    const Result<std::string> text = ReadFile(path, kMaxJsonBytes);
    if (!text) {
      const std::string& error = text.error();
      const std::string reason = error.starts_with(path + ": ") ? error.substr(path.size() + 2) : error;
      return AddProblem(&problems_, {path, 0, 0}, reason + (base ? "; repair the installation" : ""));
    }
    auto parsed = ParseJson(*text, path, {"a file of knowledge", "cudnn-ci/packages/1", "split it"});
    if (auto* found = std::get_if<Problems>(&parsed)) {
      problems_.insert(problems_.end(), found->begin(), found->end());
      return;
    }
    const Json& json = std::get<Json>(parsed);
    const std::string schema = SchemaOf(json, base, &problems_);
    if (schema.empty()) return;
    if (base && schema != wanted)
      return AddProblem(&problems_, {path, 0, 0}, "is of " + Quote(schema) + ", not of " + Quote(wanted));
    knowledge_.files.push_back({schema, "", path, Sha256Hex(*text), place.from});
    if (schema == kCompatibilitySchema)
      AddFacts(json);
    else
      AddRows(RowsOf(json, schema, place, base), base);
    // That of an installation is of the day of its release, whatever the clock says.
    if (const std::string& as_of = knowledge_.files.back().as_of;
        !base && IsDate(as_of) && as_of > UtcDate(1))
      AddProblem(
          &problems_, Find(std::get<Json::Object>(json.value), "as_of")->position,
          "\"as_of\" " + Quote(as_of) + " is in the future; write the day on which the rows were looked up");
  }

  std::vector<KnowledgeRow> RowsOf(const Json& json, const std::string& schema, const KnowledgePlace& place,
                                   bool base) {
    if (schema == kAdaptersSchema && !base && !place.code) {
      AddProblem(&problems_, json.position,
                 "adapters are code, which the image's interpreter runs; allow it with --allow-adapters");
      return {};
    }
    auto rows = ReadKnowledgeFile(json, schema, base, &knowledge_.files.back().as_of, &problems_);
    for (KnowledgeRow& row : rows)
      if (row.values.count(kAdapterCode) > 0) TakeCode(base, &row);
    return rows;
  }

  // The text of an adapter takes the place of its file's name; the file is named as the others are.
  void TakeCode(bool base, KnowledgeRow* row) {
    const KnowledgeFile of_row = knowledge_.files.back();
    const std::string path =
        of_row.path.substr(0, of_row.path.rfind('/') + 1) + Knowledge::Value(*row, kAdapterCode);
    std::string why = base ? "" : UntrustedReason(path);
    const Result<std::string> code = why.empty() ? ReadFile(path, kMaxAdapterBytes) : Error{why};
    if (!code) return AddProblem(&problems_, row->position, code.error());
    const std::vector<std::string> lines = Split(*code, '\n');
    const auto written = std::count_if(lines.begin(), lines.end(), [](const auto& l) { return !l.empty(); });
    if (written > kMaxAdapterLines)
      return AddProblem(&problems_, {path, 0, 0},
                        "an adapter has at most " + std::to_string(kMaxAdapterLines) +
                            " lines that are not empty, this one has " + std::to_string(written));
    if (!IsPlainText(*code)) return AddProblem(&problems_, {path, 0, 0}, "an adapter is printable ASCII");
    const bool is_named = std::any_of(knowledge_.files.begin(), knowledge_.files.end(),
                                      [&](const KnowledgeFile& file) { return file.path == path; });
    if (!is_named)
      knowledge_.files.insert(knowledge_.files.end() - 1,
                              {"cudnn-ci/adapter", of_row.as_of, path, Sha256Hex(*code), of_row.from});
    row->values["sha256"] = Sha256Hex(*code);
    nlohmann::ordered_json entry = nlohmann::ordered_json::parse(row->entry);
    entry[kAdapterCode] = *code;
    row->entry = entry.dump(-1, ' ', true);
  }

  void AddRows(std::vector<KnowledgeRow> rows, bool base) {
    for (KnowledgeRow& row : rows) {
      row.file = knowledge_.files.size() - 1;
      const auto known = places_.find({row.list, row.key});
      if (known != places_.end() && SameRow(knowledge_.rows[known->second], row)) continue;
      if (!base && IsBaseOnly(row.list)) {
        Note(NoticeCode::kKnowledgeNotTaken, row.list, row.key, {});
      } else if (known == places_.end()) {
        places_[{row.list, row.key}] = knowledge_.rows.size();
        knowledge_.rows.push_back(std::move(row));
      } else if (KnowledgeRow& earlier = knowledge_.rows[known->second];
                 MayReplace(row.list, row.key, knowledge_.files[earlier.file])) {
        earlier = std::move(row);
      }
    }
  }

  // Whether the file that is read may replace a row of an earlier one, by its day. Notes the answer.
  bool MayReplace(const std::string& list, const std::string& key, const KnowledgeFile& earlier) {
    const bool may = knowledge_.files.back().as_of >= earlier.as_of;
    Note(may ? NoticeCode::kKnowledgeReplaced : NoticeCode::kKnowledgeOutdated, list, key, earlier);
    return may;
  }

  // What happened to rows of one list of the file that is read, by the keys of the rows.
  struct Noted {
    NoticeCode code;
    std::string list;
    KnowledgeFile file, earlier;
    std::vector<std::string> keys;
  };

  void Note(NoticeCode code, const std::string& list, const std::string& key, const KnowledgeFile& earlier) {
    const KnowledgeFile& file = knowledge_.files.back();
    const auto same = std::find_if(noted_.begin(), noted_.end(), [&](const Noted& noted) {
      return noted.code == code && noted.list == list && noted.file.path == file.path &&
             noted.earlier.path == earlier.path;
    });
    Noted& noted = same == noted_.end() ? noted_.emplace_back(Noted{code, list, file, earlier, {}}) : *same;
    if (!noted.keys.empty() && noted.keys.back() == key) return;  // rows of the same releases of cuDNN
    noted.keys.push_back(key);
    ++named_;
  }

  // One for all keys, or several where they are too many for a line.
  void AddNotices(const Noted& noted) {
    const auto add = [&](const std::string& keys) {
      Params args = {{"rows", noted.list + " " + keys}, {"path", noted.file.path}};
      if (noted.code != NoticeCode::kKnowledgeNotTaken)
        args.insert({{"as_of", noted.file.as_of},
                     {"earlier", noted.earlier.path},
                     {"earlier_as_of", noted.earlier.as_of}});
      knowledge_.notices.push_back({noted.code, std::move(args)});
    };
    std::string keys;
    for (const std::string& key : noted.keys) {
      if (!keys.empty() && keys.size() + key.size() > kMostNoticeBytes) add(std::exchange(keys, ""));
      keys += (keys.empty() ? "" : ", ") + key;
    }
    add(keys);
  }

  void AddFacts(const Json& json) {
    const size_t before = problems_.size();
    const Compatibility more = ReadCompatibility(json, true, &problems_);
    knowledge_.files.back().as_of = more.identity.as_of;
    if (problems_.size() > before) return;
    AddCompatibility(
        more, knowledge_.files.back(), table_,
        [&](const std::string& list, const std::string& key, const KnowledgeFile& earlier) {
          return MayReplace(list, key, earlier);
        },
        &problems_);
    size_t bytes = 0;
    for (const auto& [key, value] : table_->entries) bytes += key.size() + value.size();
    if (bytes > kMaxCompatibilityEntryBytes)
      AddProblem(&problems_, json.position,
                 "with this file the entries of the version facts take more than " +
                     std::to_string(kMaxCompatibilityEntryBytes) + " bytes; leave out rows");
  }

  // Known faults are of libraries that rows of "libraries" name; plugins are told how messages call them.
  void NameLibraries() {
    std::map<std::string, std::string> titles;
    for (const KnowledgeRow* row : knowledge_.Rows("libraries"))
      titles[row->key] = Knowledge::Value(*row, "title");
    int number = -1;
    for (const KnowledgeRow& fault : FaultRows(*table_)) {
      ++number;
      const std::string library = Knowledge::Value(fault, "library");
      if (library == "cudnn") continue;  // as plugins take a row that names none
      const auto title = titles.find(library);
      if (title != titles.end()) {
        table_->entries[CCI_COMPATIBILITY_KNOWN + std::to_string(number) + CCI_COMPATIBILITY_KNOWN_LIBRARY] =
            title->second;
        continue;
      }
      std::vector<std::string> known;
      for (const auto& [name, words] : titles) known.push_back(name);
      AddProblem(&problems_, fault.position,
                 "\"library\" " + Quote(library) + " of the known fault " + Quote(fault.key) +
                     " is none of \"libraries\" of cudnn-ci/packages/1" + Hint(library, known));
    }
  }

  void CheckReferences(const ListFormat& list, const Reference& reference) {
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
  std::vector<Noted> noted_;  // in the order of reading
  size_t named_ = 0;          // keys of all of them
};

}  // namespace

std::variant<Knowledge, Problems> LoadKnowledge(const std::string& base,
                                                const std::vector<KnowledgePlace>& places,
                                                Compatibility* table) {
  Loader loader(table);
  loader.ReadBase(base);
  for (const KnowledgePlace& place : places) loader.ReadPlace(place);
  if (loader.problems().empty()) loader.CheckWhole();
  if (loader.problems().empty()) return std::move(loader.knowledge());
  std::stable_sort(loader.problems().begin(), loader.problems().end(),
                   [](const Problem& a, const Problem& b) {
                     return std::tie(a.position.file, a.position.line, a.position.column) <
                            std::tie(b.position.file, b.position.line, b.position.column);
                   });
  return std::move(loader.problems());
}

}  // namespace cudnn_ci
