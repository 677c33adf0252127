// Adds facts to a table of version facts: single entries by their keys, numbered rows behind those that are
// there.
#include <cudnn_ci/facts.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/matrix/compatibility.h"
#include "model/matrix/compatibility_words.h"

namespace cudnn_ci {
namespace {

using Entries = std::map<std::string, std::string>;

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// A numbered row: its entries, by what is behind its number (".id").
using Row = Entries;

// The rows whose keys begin so, in order: "known." -> the entries of "known.0", "known.1", ...
std::vector<Row> RowsOf(const Entries& entries, const std::string& prefix) {
  std::map<int, Row> rows;
  for (const auto& [key, value] : entries) {
    if (!StartsWith(key, prefix)) continue;
    const size_t dot = key.find('.', prefix.size());
    rows[std::stoi(key.substr(prefix.size(), dot - prefix.size()))][key.substr(dot)] = value;
  }
  std::vector<Row> list;
  for (auto& [number, row] : rows) list.push_back(std::move(row));
  return list;
}

class Addition {
 public:
  Addition(const Entries& part, Entries* table, const std::function<bool(const std::string&)>& may_replace)
      : part_(part), table_(table), may_replace_(may_replace) {}

  void Run() {
    for (const auto& [key, value] : part_) AddEntry(key, value);
    AddRows(CCI_COMPATIBILITY_KNOWN, "known_regressions", {CCI_COMPATIBILITY_KNOWN_ID});
    for (const std::string& major : CudnnMajors())
      AddRows(CCI_COMPATIBILITY_CUDNN + major + ".", "cudnn of CUDA " + major,
              {CCI_COMPATIBILITY_CUDNN_FROM, CCI_COMPATIBILITY_CUDNN_TO});
    (*table_)[CCI_COMPATIBILITY_DRIVER_BRANCHES] = Branches();
  }

 private:
  void AddEntry(const std::string& key, const std::string& value) {
    const bool is_row = StartsWith(key, CCI_COMPATIBILITY_KNOWN) || StartsWith(key, CCI_COMPATIBILITY_CUDNN);
    if (is_row || key == CCI_COMPATIBILITY_AS_OF || key == CCI_COMPATIBILITY_DRIVER_BRANCHES) return;
    std::string& now = (*table_)[key];
    if (key == CCI_COMPATIBILITY_NEWEST_TOOLKIT || key == CCI_COMPATIBILITY_NEWEST_CUDNN) {
      if (Later(value, now)) now = value;
    } else if (key == CCI_COMPATIBILITY_CARDS) {
      for (const std::string& card : Split(value, ' ')) AddCard(card, &now);
    } else if (now.empty() || (now != value && may_replace_(key))) {
      now = value;
    }
  }

  static void AddCard(const std::string& card, std::string* cards) {
    std::vector<std::string> known = cards->empty() ? std::vector<std::string>{} : Split(*cards, ' ');
    if (std::find(known.begin(), known.end(), card) != known.end()) return;
    known.push_back(card);
    std::stable_sort(known.begin(), known.end(),
                     [](const std::string& a, const std::string& b) { return Later(b, a); });
    *cards = Join(known, " ");
  }

  // Rows of the same words below `keys` are the same.
  void AddRows(const std::string& prefix, const std::string& what, const std::vector<std::string>& keys) {
    const auto name = [&](const Row& row) {
      std::string words;
      for (const std::string& key : keys)
        if (const auto word = row.find(key); word != row.end()) words += " " + word->second;
      return words;
    };
    const std::vector<Row> present = RowsOf(*table_, prefix);
    size_t count = present.size();
    for (const Row& row : RowsOf(part_, prefix)) {
      const auto same = std::find_if(present.begin(), present.end(),
                                     [&](const Row& other) { return name(other) == name(row); });
      if (same == present.end())
        Put(prefix + std::to_string(count++), row);
      else if (*same != row && may_replace_(what + name(row)))
        Put(prefix + std::to_string(same - present.begin()), row);
    }
  }

  void Put(const std::string& place, const Row& row) {
    std::erase_if(*table_, [&](const auto& entry) { return StartsWith(entry.first, place + "."); });
    for (const auto& [key, value] : row) (*table_)[place + key] = value;
  }

  // "12" of "cudnn.cu12.0.from".
  std::vector<std::string> CudnnMajors() const {
    const std::string prefix = CCI_COMPATIBILITY_CUDNN;
    std::vector<std::string> majors;
    for (const auto& [key, value] : part_) {
      if (!StartsWith(key, prefix)) continue;
      std::string major = key.substr(prefix.size(), key.find('.', prefix.size()) - prefix.size());
      if (majors.empty() || majors.back() != major) majors.push_back(std::move(major));
    }
    return majors;
  }

  // All that are known, rising.
  std::string Branches() const {
    const std::string prefix = CCI_COMPATIBILITY_DRIVER_BRANCH;
    std::vector<int> branches;
    for (const auto& [key, value] : *table_)
      if (StartsWith(key, prefix)) branches.push_back(std::stoi(key.substr(prefix.size())));
    std::sort(branches.begin(), branches.end());
    std::string list;
    for (const int branch : branches) list += (list.empty() ? "" : " ") + std::to_string(branch);
    return list;
  }

  const Entries& part_;
  Entries* table_;
  const std::function<bool(const std::string&)>& may_replace_;
};

}  // namespace

void AddCompatibility(const Compatibility& part, Compatibility* table,
                      const std::function<bool(const std::string& fact)>& may_replace) {
  Addition(part.entries, &table->entries, may_replace).Run();
}

}  // namespace cudnn_ci
