// Rotary embeddings, grouped products and the choice of experts by their definition, by a kernel that may be
// wrong in one way. Knows nothing of how the problems are made.
#ifndef CUDNN_CI_TESTS_UNIT_KERNELS_OPERATIONS_H_
#define CUDNN_CI_TESTS_UNIT_KERNELS_OPERATIONS_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace cudnn_ci {

using Elements = std::vector<double>;
using NamedElements = std::map<std::string, Elements>;
using Shapes = std::map<std::string, std::vector<std::int64_t>>;

inline constexpr double kNowhere = std::numeric_limits<double>::quiet_NaN();  // what is read outside

// A number of an input as the index that it is; -1: it is none.
inline std::int64_t IndexOf(double number, std::int64_t end) {
  return number >= 0 && number < static_cast<double>(end) ? static_cast<std::int64_t>(number) : -1;
}

class RotaryReference {
 public:
  RotaryReference(const NamedElements& inputs, const Shapes& shapes, bool interleaved, std::int64_t turned)
      : inputs_(inputs), shapes_(shapes), interleaved_(interleaved), half_(turned / 2) {}

  static std::vector<std::string> Faults(bool partial) {
    std::vector<std::string> faults = {
        "cosines and sines change places", "turned the other way", "sine without its sign", "the other style",
        "position is the place",           "position before",      "k not turned"};
    if (partial) faults.emplace_back("the rest left out");
    return faults;
  }

  NamedElements Compute(const std::string& fault) const {
    const bool still = fault == "k not turned";
    return {{"q", Turned("q", fault)}, {"k", still ? inputs_.at("k") : Turned("k", fault)}};
  }

 private:
  // By complex numbers: x + i y times cos + i sin.
  Elements Turned(const char* name, const std::string& fault) const {
    const auto& shape = shapes_.at(name);
    const std::int64_t heads = shape[1], size = shape[2], rows = shapes_.at("cos")[0];
    const bool pairs = interleaved_ != (fault == "the other style");
    Elements x = inputs_.at(name);
    for (std::int64_t row = 0; row < shape[0] * heads; ++row) {
      double* const of_row = &x[static_cast<std::size_t>(row * size)];
      std::int64_t position = IndexOf(inputs_.at("positions")[static_cast<std::size_t>(row / heads)], rows);
      if (fault == "position is the place") position = row / heads % rows;
      if (fault == "position before") position = (position + rows - 1) % rows;
      for (std::int64_t i = 0; i < half_; ++i) {
        const auto [cos, sin] = Factor(position, i, fault);
        double &a = of_row[pairs ? 2 * i : i], &b = of_row[pairs ? 2 * i + 1 : i + half_];
        const std::complex<double> turned = std::complex<double>(a, b) * std::complex<double>(cos, sin);
        a = fault == "sine without its sign" ? a * cos + b * sin : turned.real();
        b = turned.imag();
      }
      for (std::int64_t i = 2 * half_; fault == "the rest left out" && i < size; ++i) of_row[i] = 0;
    }
    return x;
  }

  std::pair<double, double> Factor(std::int64_t position, std::int64_t i, const std::string& fault) const {
    if (position < 0) return {kNowhere, kNowhere};
    const auto place = static_cast<std::size_t>(position * half_ + i);
    double cos = inputs_.at("cos")[place], sin = inputs_.at("sin")[place];
    if (fault == "cosines and sines change places") std::swap(cos, sin);
    return {cos, fault == "turned the other way" ? -sin : sin};
  }

  const NamedElements& inputs_;
  const Shapes& shapes_;
  const bool interleaved_;
  const std::int64_t half_;
};

// Rows up to its end are a group's.
inline std::vector<std::string> FaultsOfGroups(const Elements& ends) {
  std::vector<std::string> faults = {"last of the sum left out", "matrix of the first group",
                                     "matrix of the group before", "last row is of the next group",
                                     "last column is the first"};
  bool empty = false, ragged = false;
  for (std::size_t g = 0; g < ends.size(); ++g) {
    const double rows = ends[g] - (g > 0 ? ends[g - 1] : 0);
    empty = empty || rows == 0;
    ragged = ragged || std::fmod(rows, 16) != 0;
  }
  if (empty) faults.emplace_back("empty groups not counted");
  if (ragged) faults.emplace_back("whole tiles alone");
  return faults;
}

inline Elements GroupedProductOf(const NamedElements& inputs, const Shapes& shapes,
                                 const std::string& fault) {
  const Elements &x = inputs.at("x"), &w = inputs.at("w"), &ends = inputs.at("ends");
  const std::int64_t rows = shapes.at("x")[0], inner = shapes.at("x")[1], columns = shapes.at("w")[2],
                     groups = shapes.at("w")[0],
                     summed = fault == "last of the sum left out" ? inner - 1 : inner;
  Elements y;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t group = 0, filled = 0;
    const double place = static_cast<double>(row) + (fault == "last row is of the next group" ? 1 : 0);
    double begin = 0;
    for (; group < groups && place >= ends[static_cast<std::size_t>(group)]; ++group) {
      filled += ends[static_cast<std::size_t>(group)] > begin ? 1 : 0;
      begin = ends[static_cast<std::size_t>(group)];
    }
    const bool cut = fault == "whole tiles alone" && group < groups &&
                     place >= begin + 16 * std::floor((ends[static_cast<std::size_t>(group)] - begin) / 16);
    if (fault == "matrix of the first group") group = 0;
    if (fault == "matrix of the group before") group = (group + groups - 1) % groups;
    if (fault == "empty groups not counted") group = filled;
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t column = fault == "last column is the first" && c == columns - 1 ? 0 : c;
      double sum = group < groups ? 0 : kNowhere;
      for (std::int64_t k = 0; k < summed && group < groups; ++k)
        sum += x[static_cast<std::size_t>(row * inner + k)] *
               w[static_cast<std::size_t>((group * inner + k) * columns + column)];
      y.push_back(cut ? 0 : sum);
    }
  }
  return y;
}

inline std::vector<std::string> FaultsOfChoice() {
  return {"weights of all",        "the smallest", "in rising order", "without the largest",
          "weights do not add up", "powers of 2",  "expert behind"};
}

inline NamedElements ExpertChoiceOf(const Elements& logits, std::int64_t experts, std::int64_t k,
                                    const std::string& fault) {
  NamedElements chosen;
  for (std::size_t token = 0; token < logits.size() / static_cast<std::size_t>(experts); ++token) {
    const double* const row = &logits[token * static_cast<std::size_t>(experts)];
    std::vector<std::int64_t> order(static_cast<std::size_t>(experts));
    std::iota(order.begin(), order.end(), 0);
    const bool rising = fault == "the smallest";
    std::sort(order.begin(), order.end(),
              [&](std::int64_t a, std::int64_t b) { return rising ? row[a] < row[b] : row[a] > row[b]; });
    const std::int64_t first = fault == "without the largest" ? 1 : 0;
    std::vector<std::int64_t> taken(order.begin() + first, order.begin() + first + k);
    if (fault == "in rising order") std::reverse(taken.begin(), taken.end());
    const auto power = [&](std::int64_t e) {
      return fault == "powers of 2" ? std::exp2(row[e]) : std::exp(row[e]);
    };
    double sum = 0;
    for (const std::int64_t e : fault == "weights of all" ? order : taken) sum += power(e);
    if (fault == "weights do not add up") sum = 1;
    for (const std::int64_t e : taken) {
      chosen["experts"].push_back(static_cast<double>(e + (fault == "expert behind" ? 1 : 0)));
      chosen["weights"].push_back(power(e) / sum);
    }
  }
  return chosen;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_KERNELS_OPERATIONS_H_
