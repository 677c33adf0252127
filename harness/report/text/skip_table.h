// Cases that were skipped, as one table for all: by check and by what they have in common, whatever their
// shapes. Knows no check.
#ifndef CUDNN_CI_REPORT_TEXT_SKIP_TABLE_H_
#define CUDNN_CI_REPORT_TEXT_SKIP_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/verdict/summary.h"

namespace cudnn_ci {

class JsonText;
class Page;

// Cases of one check with the same values of the parameters that tell them apart. These are all that
// have several values among the check's cases, except shapes and what has more values than a table has room
// for; and "subject", if there are several.
struct SkipRow {
  std::string check;
  std::map<std::string, std::string> params;  // as in ids
  // By the kind of a skip ("unsupported", "memory", ...), or by another outcome ("passed", "failed", ...).
  std::map<std::string, int64_t> counts;

  bool operator==(const SkipRow&) const = default;
};

// Those that hold a skipped case, by check and parameters.
std::vector<SkipRow> SkipTable(const Summary& summary);

// The same in fewer rows: of those that differ in one parameter alone, and have counts of the same kinds, one
// is made, with the values side by side ("fft|fft_tiling") and the counts added.
std::vector<SkipRow> Merged(std::vector<SkipRow> rows);

// Rows as text in columns; the first line is the head, and only kinds that occur have a column. Cleaned. What
// does not fit into `most` rows is told as one.
std::vector<std::string> SkipTableLines(const std::vector<SkipRow>& rows, size_t most);

// All that was skipped as an item of a page: how many, the table, and the commonest reasons. For runs with
// more reasons than a list has room for.
void PutSkipTable(const Summary& summary, Page* page);
// The table for report.html; empty where nothing was skipped.
std::string SkipTableHtml(const Summary& summary);
// The key `skip_table` of report.json.
void PutSkipTable(const Summary& summary, JsonText* out);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_SKIP_TABLE_H_
