// Adds facts to a table of version facts: single entries by their keys, known faults by their ids, releases
// of cuDNN instead of the rows that speak of the same ones.
#include <cudnn_ci/facts.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "model/matrix/compatibility.h"
#include "model/matrix/compatibility_words.h"

namespace cudnn_ci {
namespace {

using Entries = std::map<std::string, std::string>;

// A numbered row of a list: its entries, by what is behind its number (".id").
struct Row {
  Entries entries;
  KnowledgeFile file;
  Position position;

  std::string At(const char* key) const {
    const auto entry = entries.find(key);
    return entry == entries.end() ? "" : entry->second;
  }
};

// The rows whose keys begin so, in order: "known." -> those of "known.0", "known.1", ...
std::vector<Row> RowsOf(const Compatibility& table, const std::string& prefix) {
  std::map<int, Row> rows;
  for (const auto& [key, value] : table.entries) {
    if (!key.starts_with(prefix)) continue;
    const size_t dot = key.find('.', prefix.size());
    Row& row = rows[std::stoi(key.substr(prefix.size(), dot - prefix.size()))];
    if (row.entries.empty()) {
      const std::string place = key.substr(0, dot);
      row.file = table.FileOf(place);
      if (const auto at = table.rows.find(place); at != table.rows.end()) row.position = at->second;
    }
    row.entries[key.substr(dot)] = value;
  }
  std::vector<Row> list;
  for (auto& [number, row] : rows) list.push_back(std::move(row));
  return list;
}

// "9.18.0 to 9.24.1".
std::string Releases(const Row& row) {
  return row.At(CCI_COMPATIBILITY_CUDNN_FROM) + " to " + row.At(CCI_COMPATIBILITY_CUDNN_TO);
}

// Whether the version `a` comes before `b`, or is the same.
bool NotLater(const std::string& a, const std::string& b) { return a == b || !Later(a, b); }

bool Overlap(const Row& a, const Row& b) {
  return NotLater(a.At(CCI_COMPATIBILITY_CUDNN_FROM), b.At(CCI_COMPATIBILITY_CUDNN_TO)) &&
         NotLater(b.At(CCI_COMPATIBILITY_CUDNN_FROM), a.At(CCI_COMPATIBILITY_CUDNN_TO));
}

bool Holds(const std::vector<Row>& rows, const Row& row) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& other) { return other.entries == row.entries; });
}

class Addition {
 public:
  Addition(const Compatibility& part, const KnowledgeFile& file, Compatibility* table,
           const MayReplaceFact& may_replace, std::vector<Problem>* problems)
      : part_(part), file_(file), table_(*table), may_replace_(may_replace), problems_(problems) {}

  void Run() {
    for (const auto& [key, value] : part_.entries) AddEntry(key, value);
    AddFaults();
    for (const std::string& major : CudnnMajors()) AddReleases(major);
    table_.entries[CCI_COMPATIBILITY_DRIVER_BRANCHES] = Branches();
  }

 private:
  void AddEntry(const std::string& key, const std::string& value) {
    const bool is_row = key.starts_with(CCI_COMPATIBILITY_KNOWN) || key.starts_with(CCI_COMPATIBILITY_CUDNN);
    if (is_row || key == CCI_COMPATIBILITY_AS_OF || key == CCI_COMPATIBILITY_DRIVER_BRANCHES) return;
    std::string& now = table_.entries[key];
    if (key == CCI_COMPATIBILITY_NEWEST_TOOLKIT || key == CCI_COMPATIBILITY_NEWEST_CUDNN) {
      if (Later(value, now)) now = value;
      return;
    }
    if (key == CCI_COMPATIBILITY_CARDS) {
      for (const std::string& card : Split(value, ' ')) AddCard(card, &now);
      return;
    }
    if (now == value) return;
    const size_t dot = key.find('.');
    if (!now.empty() && !may_replace_(key.substr(0, dot), key.substr(dot + 1), table_.FileOf(key))) return;
    now = value;
    table_.added[key] = file_;
  }

  static void AddCard(const std::string& card, std::string* cards) {
    std::vector<std::string> known = cards->empty() ? std::vector<std::string>{} : Split(*cards, ' ');
    if (std::find(known.begin(), known.end(), card) != known.end()) return;
    known.push_back(card);
    std::stable_sort(known.begin(), known.end(),
                     [](const std::string& a, const std::string& b) { return Later(b, a); });
    *cards = Join(known, " ");
  }

  void AddFaults() {
    std::vector<Row> rows = RowsOf(table_, CCI_COMPATIBILITY_KNOWN);
    for (Row& row : RowsOf(part_, CCI_COMPATIBILITY_KNOWN)) {
      const std::string id = row.At(CCI_COMPATIBILITY_KNOWN_ID);
      row.file = file_;
      const auto known = std::find_if(rows.begin(), rows.end(), [&](const Row& other) {
        return other.At(CCI_COMPATIBILITY_KNOWN_ID) == id;
      });
      if (known == rows.end())
        rows.push_back(std::move(row));
      else if (known->entries != row.entries && may_replace_("known_regressions", id, known->file))
        *known = std::move(row);
    }
    Put(CCI_COMPATIBILITY_KNOWN, rows);
  }

  // The rows of cuDNN's releases for one CUDA. Who asks for a release takes the widest bounds of all rows
  // that speak of it, so that no row may stay beside a later one that corrects it.
  void AddReleases(const std::string& major) {
    const std::string prefix = CCI_COMPATIBILITY_CUDNN + major + ".";
    const std::vector<Row> present = RowsOf(table_, prefix);
    std::vector<Row> more = RowsOf(part_, prefix);
    const std::vector<Row> all = more;
    std::erase_if(more, [&](const Row& row) { return Holds(present, row); });
    std::set<size_t> barred;  // of `more`: rows that an earlier file's newer ones speak of
    std::vector<bool> replaced;
    for (const Row& row : present) {
      const std::vector<size_t> over = Holds(all, row) ? std::vector<size_t>{} : OverlappingOf(more, row);
      replaced.push_back(!over.empty() && may_replace_("cudnn of CUDA " + major, Releases(row), row.file));
      if (replaced.back())
        CheckCover(more, over, row, major);
      else
        barred.insert(over.begin(), over.end());
    }
    std::vector<Row> rows;
    const auto take = [&](size_t i) {
      if (!barred.insert(i).second) return;
      rows.push_back(more[i]);
      rows.back().file = file_;
    };
    for (size_t i = 0; i < present.size(); ++i) {
      if (!replaced[i]) rows.push_back(present[i]);
      if (replaced[i])
        for (const size_t over : OverlappingOf(more, present[i])) take(over);
    }
    for (size_t i = 0; i < more.size(); ++i) take(i);
    Put(prefix, rows);
  }

  static std::vector<size_t> OverlappingOf(const std::vector<Row>& rows, const Row& row) {
    std::vector<size_t> found;
    for (size_t i = 0; i < rows.size(); ++i)
      if (Overlap(rows[i], row)) found.push_back(i);
    return found;
  }

  // What a replaced row says of releases that no added row speaks of would be lost.
  void CheckCover(const std::vector<Row>& rows, const std::vector<size_t>& over, const Row& replaced,
                  const std::string& major) {
    const auto reaches = [&](const char* key) {
      const std::string version = replaced.At(key);
      return std::any_of(over.begin(), over.end(), [&](size_t i) {
        return NotLater(rows[i].At(CCI_COMPATIBILITY_CUDNN_FROM), version) &&
               NotLater(version, rows[i].At(CCI_COMPATIBILITY_CUDNN_TO));
      });
    };
    if (reaches(CCI_COMPATIBILITY_CUDNN_FROM) && reaches(CCI_COMPATIBILITY_CUDNN_TO)) return;
    const Row& row = rows[over.front()];
    AddProblem(problems_, row.position,
               "cuDNN " + Releases(row) + " for CUDA " + major + " is a part of " + Releases(replaced) +
                   ", a row of " + replaced.file.path +
                   "; write rows that together reach from its first release to its last one");
  }

  // The rows instead of those that have this prefix, numbered anew.
  void Put(const std::string& prefix, const std::vector<Row>& rows) {
    const auto is_of = [&](const auto& entry) { return entry.first.starts_with(prefix); };
    std::erase_if(table_.entries, is_of);
    std::erase_if(table_.rows, is_of);
    std::erase_if(table_.added, is_of);
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string place = prefix + std::to_string(i);
      for (const auto& [key, value] : rows[i].entries) table_.entries[place + key] = value;
      table_.rows[place] = rows[i].position;
      if (rows[i].file.path != table_.identity.path) table_.added[place] = rows[i].file;
    }
  }

  // "12" of "cudnn.cu12.0.from".
  std::vector<std::string> CudnnMajors() const {
    const std::string prefix = CCI_COMPATIBILITY_CUDNN;
    std::vector<std::string> majors;
    for (const auto& [key, value] : part_.entries) {
      if (!key.starts_with(prefix)) continue;
      std::string major = key.substr(prefix.size(), key.find('.', prefix.size()) - prefix.size());
      if (majors.empty() || majors.back() != major) majors.push_back(std::move(major));
    }
    return majors;
  }

  // All that are known, rising.
  std::string Branches() const {
    const std::string prefix = CCI_COMPATIBILITY_DRIVER_BRANCH;
    std::vector<int> branches;
    for (const auto& [key, value] : table_.entries)
      if (key.starts_with(prefix)) branches.push_back(std::stoi(key.substr(prefix.size())));
    std::sort(branches.begin(), branches.end());
    std::string list;
    for (const int branch : branches) list += (list.empty() ? "" : " ") + std::to_string(branch);
    return list;
  }

  const Compatibility& part_;
  const KnowledgeFile& file_;
  Compatibility& table_;
  const MayReplaceFact& may_replace_;
  std::vector<Problem>* problems_;
};

}  // namespace

void AddCompatibility(const Compatibility& part, const KnowledgeFile& file, Compatibility* table,
                      const MayReplaceFact& may_replace, std::vector<Problem>* problems) {
  Addition(part, file, table, may_replace, problems).Run();
}

}  // namespace cudnn_ci
