// `cudnn-ci knowledge`: what is known of packages, faults and remedies, from which files.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/package_names.h"
#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/known.h"
#include "cli/preparation.h"
#include "cli/session.h"
#include "cli/shared_options.h"

namespace cudnn_ci {
namespace {

using nlohmann::ordered_json;

// Whether `what` stands in the text as a word or words, in any case: "nccl" in "nccl_one_rank_average".
bool HasWord(const std::string& text, const std::string& what) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  const auto part_of_word = [](unsigned char c) { return std::isalnum(c) != 0; };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), what.begin(), what.end(), same);
    if (at == text.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(what.size());
    if ((at == text.begin() || !part_of_word(at[-1])) && (end == text.end() || !part_of_word(*end)))
      return true;
  }
}

bool Has(const KnowledgeRow& row, const std::string& what) {
  if (HasWord(row.key, what)) return true;
  return std::any_of(row.values.begin(), row.values.end(), [&](const auto& value) {
    return HasWord(value.second, what) || NameMatches(value.second, what);
  });
}

// The rows of the list of that name, else all rows that have such a word; all rows if `what` is empty.
std::vector<KnowledgeRow> RowsWith(const Known& known, const std::string& what) {
  std::vector<KnowledgeRow> rows = known.knowledge.rows, faults = FaultRows(known.table);
  rows.insert(rows.end(), faults.begin(), faults.end());
  const auto is_listed = [&](const KnowledgeRow& row) { return row.list == what; };
  const bool is_list = std::any_of(rows.begin(), rows.end(), is_listed);
  std::erase_if(rows, [&](const KnowledgeRow& row) {
    return !what.empty() && (is_list ? !is_listed(row) : !Has(row, what));
  });
  return rows;
}

std::string PathOf(const Known& known, const KnowledgeRow& row) {
  return row.list == kFaultList ? row.position.file : known.knowledge.files[row.file].path;
}

std::vector<KnowledgeFile> FilesOf(const Known& known) {
  std::vector<KnowledgeFile> files;
  if (const VersionTable& table = known.table.identity; !table.as_of.empty())
    files.push_back({kCompatibilitySchema, table.as_of, table.path, table.sha256});
  files.insert(files.end(), known.knowledge.files.begin(), known.knowledge.files.end());
  return files;
}

// How many rows count that are of this file; of version facts single entries, known faults and rows of
// cuDNN's releases.
size_t CountOf(const Known& known, const KnowledgeFile& file) {
  if (file.schema == kCompatibilitySchema) {
    const std::vector<std::string> facts = FactsOf(known.table);
    return static_cast<size_t>(std::count_if(facts.begin(), facts.end(), [&](const std::string& fact) {
      return known.table.FileOf(fact).path == file.path;
    }));
  }
  return static_cast<size_t>(std::count_if(
      known.knowledge.rows.begin(), known.knowledge.rows.end(),
      [&](const KnowledgeRow& row) { return known.knowledge.files[row.file].path == file.path; }));
}

// The files with their schemas, days and numbers of rows. `what`: the rows of a list of that name
// ("packages"), or those that have such a word; empty: none. An empty text: nothing has it.
std::string KnowledgeText(const Known& known, const std::string& what) {
  std::string text;
  if (what.empty()) {
    for (const KnowledgeFile& file : FilesOf(known))
      text += file.schema + "  " + file.as_of + "  " + std::to_string(CountOf(known, file)) + " rows  " +
              file.path + (file.from.empty() ? "" : "  (" + file.from + ")") + "\n";
    return text;
  }
  for (const KnowledgeRow& row : RowsWith(known, what)) {
    text += row.list + " " + row.key + "\n";
    for (const auto& [field, value] : row.values) text += "  " + field + ": " + value + "\n";
    text += "  source: " + row.source + " (" + row.confidence + ")\n";
    if (const std::string path = PathOf(known, row); !path.empty()) text += "  file: " + path + "\n";
  }
  return text;
}

// The same as JSON, cudnn-ci/knowledge/1; with an empty `what` with all rows.
std::string KnowledgeJson(const Known& known, const std::string& what) {
  ordered_json files = ordered_json::array(), rows = ordered_json::array();
  for (const KnowledgeFile& file : FilesOf(known))
    files.push_back({{"schema", file.schema},
                     {"as_of", file.as_of},
                     {"rows", CountOf(known, file)},
                     {"path", file.path},
                     {"sha256", file.sha256},
                     {"from", file.from}});
  for (const KnowledgeRow& row : RowsWith(known, what)) {
    ordered_json values = ordered_json::object();
    for (const auto& [field, value] : row.values) values[field] = value;
    rows.push_back({{"list", row.list},
                    {"key", row.key},
                    {"values", values},
                    {"source", row.source},
                    {"confidence", row.confidence},
                    {"file", PathOf(known, row)}});
  }
  return ordered_json({{"schema", "cudnn-ci/knowledge/1"}, {"files", files}, {"rows", rows}}).dump();
}

class ShowKnowledge : public Command {
 public:
  void Declare(CLI::App* app) override {
    app->add_option("WHAT", what_, "a list (packages), or a word to search for");
    DeclareJson(app, &json_);
    DeclareDiscovery(app, &discovery_);
  }
  Status Check() override { return CheckDiscovery(discovery_); }
  int Run(const Invocation& invocation) override {
    auto loaded = LoadKnown(invocation.installation, discovery_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return PrintProblems(*problems);
    const Known& known = std::get<Known>(loaded);
    const std::string text = KnowledgeText(known, what_);
    if (text.empty()) return Fail("no list is named '" + what_ + "', and no row has this word");
    if (!known.knowledge.Rows("remedies").empty()) {
      Session session({invocation.installation, discovery_});
      const Looked looked = Looked::AtPlugins(&session);
      if (const auto problems = RemedyProblems(known, looked.discovery().catalog); !problems.empty())
        return PrintProblems(problems);
    }
    PrintNotices(known.notices);
    return json_ ? PrintJson(KnowledgeJson(known, what_)) : PrintText(text);
  }

 private:
  DiscoveryOptions discovery_;
  std::string what_;  // empty: the files alone
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeKnowledge() { return std::make_unique<ShowKnowledge>(); }

}  // namespace cudnn_ci
