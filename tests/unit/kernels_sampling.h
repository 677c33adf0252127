// Sampling by its definition, by a kernel that may be wrong in one way. Knows nothing of how the problems are
// made.
#ifndef CUDNN_CI_TESTS_UNIT_KERNELS_SAMPLING_H_
#define CUDNN_CI_TESTS_UNIT_KERNELS_SAMPLING_H_

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kernels_operations.h"

namespace cudnn_ci {

class SamplingReference {
 public:
  SamplingReference(const NamedElements& inputs, const Shapes& shapes, bool draw)
      : inputs_(inputs),
        greedy_(inputs.count("logits") > 0),
        draw_(draw),
        values_(inputs.at(greedy_ ? "logits" : "probs")),
        rows_(shapes.at(greedy_ ? "logits" : "probs")[0]),
        vocabulary_(shapes.at(greedy_ ? "logits" : "probs")[1]) {}

  std::vector<std::string> Faults() const {
    std::vector<std::string> faults = {"row before", "last row is the first", "half of the vocabulary"};
    if (draw_)
      faults.insert(faults.end(), {"token behind", "second", "smallest", "place by size"});
    else
      faults.insert(faults.end(), {"one more", "one fewer", "not renormalised", "by the largest", "by size",
                                   "largest left out"});
    if (!greedy_) faults.emplace_back("limit ignored");
    if (!greedy_ && !draw_ && inputs_.count("min_p") == 0)
      faults.insert(faults.end(), {"limit of the row before", "equal ones count once"});
    return faults;
  }

  NamedElements Compute(const std::string& fault) const {
    NamedElements results;
    for (std::int64_t row = 0; row < rows_; ++row) {
      std::int64_t of = row;
      if (fault == "row before") of = (row + rows_ - 1) % rows_;
      if (fault == "last row is the first" && row == rows_ - 1) of = 0;
      const double* const values = &values_[static_cast<std::size_t>(of * vocabulary_)];
      std::vector<std::int64_t> order(static_cast<std::size_t>(vocabulary_));
      std::iota(order.begin(), order.end(), 0);
      if (fault == "half of the vocabulary") order.resize(order.size() / 2);
      const bool rising = fault == "smallest";
      std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return rising ? values[a] < values[b] : values[a] > values[b];
      });
      const std::int64_t kept = greedy_ ? 1 : Count(order, values, Limit(row, of, fault), fault);
      if (draw_)
        results["tokens"].push_back(Token(order, kept, fault));
      else
        AddLeft(order, kept, values, fault, &results["renormalised"]);
    }
    return results;
  }

 private:
  double Limit(std::int64_t row, std::int64_t of, const std::string& fault) const {
    const std::int64_t from = fault == "limit of the row before" ? (row + rows_ - 1) % rows_ : of;
    for (const char* name : {"top_k", "top_p", "min_p"})
      if (inputs_.count(name) > 0) return inputs_.at(name)[static_cast<std::size_t>(from)];
    return kNowhere;
  }

  // How many are kept, the most likely first.
  std::int64_t Count(const std::vector<std::int64_t>& order, const double* values, double limit,
                     const std::string& fault) const {
    const auto all = static_cast<std::int64_t>(order.size());
    if (fault == "limit ignored") return all;
    const bool once = fault == "equal ones count once";
    std::int64_t count = 0;
    double reached = 0;  // so many, or so much probability
    for (; count < all; ++count) {
      const double value = values[order[static_cast<std::size_t>(count)]];
      const bool again = once && count > 0 && value == values[order[static_cast<std::size_t>(count - 1)]];
      if (inputs_.count("min_p") > 0) {
        if (!(value >= limit * values[order[0]])) break;
      } else if (!again) {
        if (reached >= limit) break;
        reached += inputs_.count("top_k") > 0 ? 1 : value;
      }
    }
    return count + (fault == "one more" ? 1 : 0) - (fault == "one fewer" ? 1 : 0);
  }

  // -1: not one token alone is left.
  double Token(const std::vector<std::int64_t>& order, std::int64_t kept, const std::string& fault) const {
    if (fault == "limit ignored") return static_cast<double>(order.back());
    if (fault == "second") return static_cast<double>(order[1]);
    if (fault == "place by size") return 0;
    return kept == 1 ? static_cast<double>(order[0] + (fault == "token behind" ? 1 : 0)) : -1;
  }

  void AddLeft(const std::vector<std::int64_t>& order, std::int64_t kept, const double* values,
               const std::string& fault, Elements* left) const {
    const std::int64_t first = fault == "largest left out" ? 1 : 0;
    double sum = 0;
    for (std::int64_t i = first; i < kept; ++i) sum += values[order[static_cast<std::size_t>(i)]];
    if (fault == "not renormalised") sum = 1;
    if (fault == "by the largest") sum = values[order[0]];
    const std::size_t begin = left->size();
    left->resize(begin + static_cast<std::size_t>(vocabulary_));
    for (std::int64_t i = first; i < kept; ++i) {
      const std::int64_t token = order[static_cast<std::size_t>(i)];
      (*left)[begin + static_cast<std::size_t>(fault == "by size" ? i : token)] = values[token] / sum;
    }
  }

  const NamedElements& inputs_;
  const bool greedy_, draw_;
  const Elements& values_;
  const std::int64_t rows_, vocabulary_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_KERNELS_SAMPLING_H_
