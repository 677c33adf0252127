// What became of every algorithm or engine of a sweep: counts, and a table in plain text. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_CHOICE_TABLE_H_
#define CUDNN_CI_PLUGINS_COMPUTE_CHOICE_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_ci {

enum class ChoiceOutcome { kPassed, kWrong, kFailed, kUnsupported, kMemory, kUnverifiable };

struct ChoiceRow {
  std::string name;
  ChoiceOutcome outcome = ChoiceOutcome::kPassed;
  std::string words;  // the library's, or the figures of one that ran
};

class ChoiceTable {
 public:
  void Add(const ChoiceRow& row) { rows_.push_back(row); }
  std::size_t Count(ChoiceOutcome outcome) const;
  // One line for each: "implicit_gemm  passed  error 0 of 0, workspace 100 B". Those that are unsupported for
  // the same reason share a line.
  std::string Text() const;
  // "3 passed, 2 unsupported, 1 unverifiable".
  std::string Summary() const;

 private:
  std::vector<ChoiceRow> rows_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_CHOICE_TABLE_H_
