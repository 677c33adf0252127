// What is known of packages, of what they open and compile at run time, of known faults and remedies: rows of
// data files (knowledge/*.json), merged from those that come with cudnn-ci and those that a team adds.
//
// A later file adds rows, or replaces rows of the same key. A row replaces one of an earlier file only if its
// file is not older than that one (`as_of`); each row that is replaced, or is too old to replace one, is
// named in a notice. No later file can change a finding's severity or blame, name a library of the driver
// (such rows are not taken, with a notice), or name a file outside of the folders of the image's packages.
// One brings code, an adapter's, only where its place allows that.
#ifndef CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_H_
#define CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_H_

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/package_names.h"
#include "model/json/json_tree.h"
#include "model/matrix/compatibility.h"
#include "model/record/finding.h"
#include "model/record/knowledge_file.h"
#include "model/record/notice.h"

namespace cudnn_ci {

// Bounds: plugins are told of all rows.
inline constexpr size_t kMaxKnowledgeRows = 1000;              // of one list of one file
inline constexpr size_t kMaxKnowledgeEntry = 4000;             // bytes of one row for plugins
inline constexpr size_t kMaxKnowledgeEntryBytes = 192 * 1024;  // of all of them, with their keys
inline constexpr size_t kMaxKnowledgeFiles = 100;
inline constexpr size_t kMaxAdapterBytes = 8000;        // of the code of an adapter
inline constexpr std::ptrdiff_t kMaxAdapterLines = 60;  // that are not empty

// One row of a list.
struct KnowledgeRow {
  std::string list;                           // "packages"
  std::string key;                            // names the row within its list: "python torch"
  std::map<std::string, std::string> values;  // by field; lists as JSON, flags as "true" and "false"
  std::string source, confidence;             // an address or words; "sure", "likely", "unsure"
  std::string entry;                          // the row as plugins are told it; empty: they are not
  size_t file = 0;                            // of Knowledge::files
  Position position;
};

struct Knowledge {
  std::vector<KnowledgeFile> files;  // in the order of reading
  std::vector<KnowledgeRow> rows;    // of each list in the order of the files; a replacement takes the place
                                     // of what it replaces
  Notices notices;                   // what was replaced, and what was too old to replace

  // The rows of a list, in order.
  std::vector<const KnowledgeRow*> Rows(const std::string& list) const;
  // A value of a row; empty: it has none.
  static std::string Value(const KnowledgeRow& row, const std::string& field);
};

// Where knowledge is read from.
struct KnowledgePlace {
  std::string path;   // a file, or a folder whose files *.json are read by name, without *.schema.json
  std::string from;   // as of KnowledgeFile
  bool code = false;  // whether adapters are taken from it
};

// Reads the files that come with cudnn-ci from `base`, then `places`, in order, each of at most 4 MiB. Rows
// of known faults and version facts (cudnn-ci/compatibility/1) in `places` are added to `table`. Reports
// every problem, by file and position.
std::variant<Knowledge, std::vector<Problem>> LoadKnowledge(const std::string& base,
                                                            const std::vector<KnowledgePlace>& places,
                                                            Compatibility* table);

// What is known of Python packages by their names and files.
PackageNames PackageNamesOf(const Knowledge& knowledge);

// Replaces what to do about a finding (words, link, command) by what a row of "remedies" says; severity,
// blame and words stay.
void ApplyRemedy(const Knowledge& knowledge, Finding* finding);
void ApplyRemedy(const Knowledge& knowledge, FindingInfo* finding);

// One problem for each row of "remedies" whose finding is none of these ids.
std::vector<Problem> CheckRemedies(const Knowledge& knowledge, const std::vector<std::string>& findings);

// The list of known faults among rows of knowledge, and those of a table as its rows, in its order;
// `position` has the file that each is of, `file` says nothing.
inline constexpr const char* kFaultList = "known_regressions";
std::vector<KnowledgeRow> FaultRows(const Compatibility& table);

// The facts of a table as its FileOf knows them: keys of single entries, the beginnings of those of numbered
// rows.
std::vector<std::string> FactsOf(const Compatibility& table);

// What plugins are told, by the keys of cudnn_ci/facts.h.
std::map<std::string, std::string> EntriesOf(const Knowledge& knowledge);
// Whether one of them is of an adapter.
bool IsEntryOfAdapters(const std::string& key);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_H_
