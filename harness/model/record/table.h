// A table that a check attaches and reports draw: cudnn-ci/table/1, a JSON document of the media type below.
// harness/docs/reports-in-detail.md describes it for authors of checks.
#ifndef CUDNN_CI_MODEL_RECORD_TABLE_H_
#define CUDNN_CI_MODEL_RECORD_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace cudnn_ci {

inline constexpr const char* kTableType = "application/vnd.cudnn-ci.table+json";
inline constexpr const char* kTableSchema = "cudnn-ci/table/1";

// Bounds: a table travels in one line of the journal.
inline constexpr size_t kMostTableBytes = 256 << 10;  // of the document
inline constexpr size_t kMostTableColumns = 32, kMostTableRows = 1000, kMostTableText = 200;

// What a cell means; its text says it in words.
enum class CellState { kNone, kOk, kWarning, kError, kUnknown };
const char* Name(CellState state);  // "", "ok", "warning", "error", "unknown"
bool Parse(const std::string& name, CellState* out);

struct TableCell {
  std::string text;
  CellState state = CellState::kNone;
};
struct TableRow {
  std::vector<TableCell> cells;  // one for each column
};
struct AttachedTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<TableRow> rows;
  int64_t left_out = 0;  // rows for which there was no room

  bool empty() const { return columns.empty(); }
};

// Of the document. Texts are cleaned, each on one line. An error says what is wrong, and nothing of it is
// used.
Result<AttachedTable> ParseTable(const std::string& text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_TABLE_H_
