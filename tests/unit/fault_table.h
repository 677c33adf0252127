// The table that a run of the fault tests ends with: how many faults were caught, and how many of the random
// places could show them.
#ifndef CUDNN_CI_TESTS_FAULT_TABLE_H_
#define CUDNN_CI_TESTS_FAULT_TABLE_H_

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci {

// Rows are types and bounds, columns faults, both in the order in which they came. What the tests of several
// operations and layouts say of one cell is added up.
class FaultTable : public testing::Environment {
 public:
  void Add(const std::string& type, const std::string& bound, const std::string& fault, int caught,
           int drawn) {
    Cell& cell = cells_[{Place(type + " | " + bound, &rows_), Place(fault, &faults_)}];
    cell.caught += caught;
    cell.drawn += drawn;
  }

  void TearDown() override {
    if (rows_.empty()) return;
    std::printf("Faults caught, all that the type and the bound let show; behind each the random places\n");
    std::printf("that were drawn for them, and the share of them that could show it.\n| type | bound |");
    for (const std::string& fault : faults_) std::printf(" %s |", fault.c_str());
    std::printf("\n|---|---|");
    for (std::size_t column = 0; column < faults_.size(); ++column) std::printf("---|");
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      std::printf("\n| %s |", rows_[row].c_str());
      for (std::size_t column = 0; column < faults_.size(); ++column) Print(cells_[{row, column}]);
    }
    std::printf("\n");
  }

 private:
  struct Cell {
    int caught = 0, drawn = 0;
  };
  static void Print(const Cell& cell) {
    if (cell.drawn == 0)
      std::printf(" - |");
    else
      std::printf(" %d of %d, %.0f %% |", cell.caught, cell.drawn, 100.0 * cell.caught / cell.drawn);
  }
  static std::size_t Place(const std::string& name, std::vector<std::string>* names) {
    for (std::size_t i = 0; i < names->size(); ++i)
      if ((*names)[i] == name) return i;
    names->push_back(name);
    return names->size() - 1;
  }
  std::vector<std::string> rows_, faults_;
  std::map<std::pair<std::size_t, std::size_t>, Cell> cells_;
};

// The program's, which googletest owns and ends.
inline FaultTable* const fault_table =
    static_cast<FaultTable*>(testing::AddGlobalTestEnvironment(new FaultTable));

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_FAULT_TABLE_H_
