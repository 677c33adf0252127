// Exact problems computed by their definition from what lies in their files, by a kernel that may be wrong in
// one way. Knows nothing of how the problems are made.
#ifndef CUDNN_CI_TESTS_UNIT_KERNELS_REFERENCE_H_
#define CUDNN_CI_TESTS_UNIT_KERNELS_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/problem.h"
#include "kernels_operations.h"
#include "kernels_sampling.h"

namespace cudnn_ci {

// An input, last axis fastest.
inline Elements ElementsOf(const KernelInput& input) {
  const std::int64_t count =
      std::accumulate(input.shape.begin(), input.shape.end(), std::int64_t{1}, std::multiplies<>());
  const bool flag = input.dtype == "bool";
  const DataType type = flag ? DataType::kInt8 : DataTypeFrom(input.dtype);
  Elements elements;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0, rest = i;
    for (std::size_t axis = input.shape.size(); axis-- > 0; rest /= input.shape[axis])
      place += rest % input.shape[axis] * input.strides[axis];
    elements.push_back(Load(type, &input.bytes[static_cast<std::size_t>(place) * SizeOf(type)]));
  }
  return elements;
}

class KernelReference {
 public:
  explicit KernelReference(const KernelProblem& problem)
      : problem_(problem),
        attributes_(nlohmann::json::parse(problem.attributes)),
        mask_(attributes_.value("mask", "")),
        window_(attributes_.value("window", 0)),
        attributes_scale_(attributes_.value("scale", 1.0)) {
    for (const KernelInput& input : problem.inputs) {
      inputs[input.name] = ElementsOf(input);
      shapes_[input.name] = input.shape;
    }
  }

  std::map<std::string, Elements> inputs;
  // Of attention: so many keys at a time, whose part of O is rounded to the type before all are added. 0:
  // all.
  std::int64_t chunk = 0;

  // The outputs by name, and "weights": what probability all queries together give each key. `fault` is one
  // of Faults() or empty.
  std::map<std::string, Elements> Compute(const std::string& fault = "") const {
    if (problem_.operation == "attention") return Attention(fault);
    if (problem_.operation == "product") return {{"y", Product(fault)}};
    if (problem_.operation == "silu_gate") return {{"y", Gate(fault)}};
    if (problem_.operation == "rotary_embedding") return Rotary().Compute(fault);
    if (problem_.operation == "grouped_product") return {{"y", GroupedProductOf(inputs, shapes_, fault)}};
    if (problem_.operation == "expert_choice")
      return ExpertChoiceOf(inputs.at("logits"), shapes_.at("logits")[1], attributes_["k"], fault);
    if (problem_.operation == "sampling") return Sampled().Compute(fault);
    return {{"y", Norm(fault)}};
  }

  // In which ways a kernel of this problem may be wrong.
  std::vector<std::string> Faults() const {
    std::vector<std::string> faults;
    if (problem_.operation == "rotary_embedding")
      return RotaryReference::Faults(attributes_["rotary_size"] != shapes_.at("q")[2]);
    if (problem_.operation == "grouped_product") return FaultsOfGroups(inputs.at("ends"));
    if (problem_.operation == "expert_choice") return FaultsOfChoice();
    if (problem_.operation == "sampling") return Sampled().Faults();
    if (problem_.operation == "attention") {
      faults = {"scale", "P not divided"};
      const std::string mask = attributes_["mask"];
      const std::int64_t kv_heads = shapes_.at("k")[1];
      if (mask != "padding") faults.emplace_back("last key left out");
      if (kv_heads > 1) faults.emplace_back("values of the next head");
      if (problem_.name.find("/bfloat16_far") != std::string::npos ||
          problem_.name.find("/float16_far") != std::string::npos)
        faults.emplace_back("no maximum taken off");
      if (mask != "none") faults.emplace_back("mask left out");
      if (mask.find("causal") == 0 || mask == "sliding_window" || mask == "padding")
        faults.emplace_back("mask off by one");
      if (mask == "causal_bottom_right") faults.emplace_back("mask from the top left");
      if (kv_heads > 1 && shapes_.at("q")[1] != kv_heads) faults.emplace_back("heads in turn");
      if (attributes_["backward"])
        faults.insert(faults.end(), {"D left out", "dQ not scaled", "dV of rounded P",
                                     "dK of half of the queries left out"});
    } else if (problem_.operation == "product") {
      faults = {"last of the sum left out", "first of the sum left out", "sum in two halves, one lost",
                "last column is the first"};
      if (inputs.count("bias") > 0) faults.insert(faults.end(), {"bias left out", "bias twice"});
      if (inputs.count("x_scale") > 0)
        faults.insert(faults.end(), {"scale of x left out", "scale of w left out"});
    } else if (problem_.operation == "silu_gate") {
      faults = {"gate left out", "no sigmoid", "sigmoid alone", "gelu", "x and gate change places"};
    } else {
      // One of 4,096 elements is less than 16 bits show.
      const bool few = shapes_.at("x")[1] <= 1000;
      faults = {"epsilon left out", "epsilon is 1e-5", "weight left out", "root left out"};
      if (few) faults.emplace_back("last element left out");
      if (problem_.operation == "layer_norm") {
        faults.insert(faults.end(), {"bias left out", "mean left out", "mean not in the variance",
                                     "sums of the row before"});
        if (few) faults.emplace_back("variance of N - 1");
      }
    }
    return faults;
  }

 private:
  static std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

  RotaryReference Rotary() const {
    return {inputs, shapes_, attributes_["interleaved"], attributes_["rotary_size"]};
  }

  SamplingReference Sampled() const { return {inputs, shapes_, attributes_["draw"]}; }

  bool Sees(std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t queries, std::int64_t keys,
            const std::string& fault) const {
    const std::string& mask = mask_;
    if (mask == "none" || mask == "bias" || fault == "mask left out") return true;
    const std::int64_t off = fault == "mask off by one" ? 1 : 0;
    if (mask == "causal" || fault == "mask from the top left") return j <= i + off;
    if (mask == "causal_bottom_right") return j <= i + keys - queries + off;
    if (mask == "sliding_window") return j <= i && j > i - window_ + off;
    if (mask == "padding") return j < attributes_["kv_lengths"][At(b)].get<std::int64_t>() - off;
    return true;
  }

  // A row of queries that see keys, as one head has them.
  struct Row {
    std::int64_t b, i, first, values, at;  // `first`: the row of its head's first key, `values`: and value
  };

  std::map<std::string, Elements> Attention(const std::string& fault) const {
    const auto &q_shape = shapes_.at("q"), &k_shape = shapes_.at("k");
    const std::int64_t batch = q_shape[0], heads = q_shape[1], queries = q_shape[2], d = q_shape[3],
                       kv_heads = k_shape[1], keys = k_shape[2], rows = batch * kv_heads * keys;
    Elements o(At(batch * heads * queries * d)), dq(o.size()), dk(At(rows * d)), dv(dk.size()),
        weights(At(rows));
    for (std::int64_t at = 0; at < batch * heads * queries; ++at) {
      const std::int64_t b = at / queries / heads, h = at / queries % heads;
      const std::int64_t g = fault == "heads in turn" ? h % kv_heads : h / (heads / kv_heads);
      const std::int64_t first = (b * kv_heads + g) * keys;
      const Row row = {b, at % queries, first,
                       fault == "values of the next head" ? (first + keys) % rows : first, at};
      const Elements p = Probabilities(row, queries, keys, d, fault);
      for (std::int64_t j = 0; j < keys; ++j) weights[At(first + j)] += p[At(j)];
      for (std::int64_t j = 0; j<keys; j += chunk> 0 ? chunk : keys)
        AddPart(row.values, p, j, chunk > 0 ? std::min(j + chunk, keys) : keys, d, &o[At(at * d)]);
      if (attributes_["backward"]) Backward(row, p, queries, d, fault, &dq, &dk, &dv);
    }
    return {{"o", o}, {"dq", dq}, {"dk", dk}, {"dv", dv}, {"weights", weights}};
  }

  void AddPart(std::int64_t values, const Elements& p, std::int64_t begin, std::int64_t end, std::int64_t d,
               double* o) const {
    const double weight = std::accumulate(p.begin() + begin, p.begin() + end, 0.0);
    Elements part(At(d));
    for (std::int64_t j = begin; j < end; ++j)
      Add(p[At(j)], &inputs.at("v")[At((values + j) * d)], d, part.data());
    for (double& element : part)
      if (chunk > 0 && weight > 0) element = weight * RoundTo(problem_.outputs[0].type, element / weight);
    Add(1, part.data(), d, o);
  }

  static void Add(double factor, const double* from, std::int64_t count, double* to) {
    for (std::int64_t e = 0; factor != 0 && e < count; ++e) to[e] += factor * from[e];
  }
  static double Dot(const double* a, const double* b, std::int64_t count) {
    return std::inner_product(a, a + count, b, 0.0);
  }

  // As in float32, where the exponential of all that does not match is 0.
  Elements Probabilities(const Row& row, std::int64_t queries, std::int64_t keys, std::int64_t d,
                         const std::string& fault) const {
    const double scale =
        fault == "scale" ? 1 / std::sqrt(static_cast<double>(d)) : attributes_["scale"].get<double>();
    const std::int64_t end = fault == "last key left out" ? keys - 1 : keys;
    const bool biased = inputs.count("bias") > 0 && fault != "mask left out";
    const double *const q = &inputs.at("q")[At(row.at * d)], *const k = &inputs.at("k")[At(row.first * d)];
    Elements p(At(keys), -INFINITY);
    double most = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < end; ++j) {
      if (!Sees(row.b, row.i, j, queries, keys, fault)) continue;
      p[At(j)] = scale * Dot(q, k + j * d, d);
      if (biased) p[At(j)] += inputs.at("bias")[At(row.i * keys + j)];
      most = std::max(most, p[At(j)]);
    }
    if (fault == "no maximum taken off") most = 0;
    for (double& one : p) sum += one = std::exp(static_cast<float>(one - most));
    if (sum == 0 || sum > 3.4e38) sum = std::nan("");
    if (fault == "P not divided") sum = std::max(1.0, std::floor(sum / 2)) / 1.5;
    for (double& one : p) one /= sum;
    return p;
  }

  void Backward(const Row& row, const Elements& p, std::int64_t queries, std::int64_t d,
                const std::string& fault, Elements* dq, Elements* dk, Elements* dv) const {
    const double scale = fault == "dQ not scaled" ? 1 : attributes_["scale"].get<double>();
    const double* const g_o = &inputs.at("do")[At(row.at * d)];
    const bool lost = fault == "dK of half of the queries left out" && 2 * row.i >= queries;
    const bool rounded = fault == "dV of rounded P";
    Elements dp(p.size());
    double of_row = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      if (p[j] != 0) dp[j] = Dot(g_o, &inputs.at("v")[(At(row.values) + j) * At(d)], d);
      of_row += p[j] * dp[j];
    }
    if (fault == "D left out") of_row = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const double ds = p[j] * (dp[j] - of_row);
      const std::size_t key = (At(row.first) + j) * At(d);
      Add(ds * scale, &inputs.at("k")[key], d, &(*dq)[At(row.at * d)]);
      Add(lost ? 0 : ds * attributes_scale_, &inputs.at("q")[At(row.at * d)], d, &(*dk)[key]);
      Add(rounded ? std::round(p[j]) : p[j], g_o, d, &(*dv)[key]);
    }
  }

  Elements Product(const std::string& fault) const {
    const auto &x_shape = shapes_.at("x"), &w_shape = shapes_.at("w");
    const std::int64_t k = x_shape.back(), rows = x_shape[x_shape.size() - 2], columns = w_shape.back(),
                       batch = x_shape.size() > 2 ? x_shape[0] : 1;
    const Elements &x = inputs.at("x"), &w = inputs.at("w");
    const auto scale = [&](const char* name, std::int64_t i, const char* left_out) {
      const auto found = inputs.find(name);
      if (found == inputs.end() || fault == left_out) return 1.0;
      return found->second[At(found->second.size() > 1 ? i : 0)];
    };
    Elements y;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          const std::int64_t column = fault == "last column is the first" && c == columns - 1 ? 0 : c;
          std::int64_t begin = fault == "first of the sum left out" ? 1 : 0, end = k;
          if (fault == "last of the sum left out") end = k - 1;
          if (fault == "sum in two halves, one lost") end = k / 2;
          double sum = 0;
          for (std::int64_t i = begin; i < end; ++i)
            sum += x[At((b * rows + r) * k + i)] * w[At((b * k + i) * columns + column)];
          sum *= scale("x_scale", r, "scale of x left out") * scale("w_scale", column, "scale of w left out");
          if (inputs.count("bias") > 0 && fault != "bias left out")
            sum += inputs.at("bias")[At(column)] * (fault == "bias twice" ? 2 : 1);
          y.push_back(sum);
        }
    return y;
  }

  Elements Norm(const std::string& fault) const {
    const Elements& x = inputs.at("x");
    const std::int64_t rows = shapes_.at("x")[0], n = shapes_.at("x")[1];
    const bool with_mean = problem_.operation == "layer_norm", centred = fault != "mean not in the variance",
               shifted = fault != "mean left out", weighted = fault != "weight left out",
               biased = with_mean && fault != "bias left out", root = fault != "root left out";
    double epsilon = attributes_["epsilon"];
    if (fault == "epsilon left out") epsilon = 0;
    if (fault == "epsilon is 1e-5") epsilon = 1e-5;
    Elements y;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t of = fault == "sums of the row before" ? std::max<std::int64_t>(r - 1, 0) : r;
      const std::int64_t end = fault == "last element left out" ? n - 1 : n;
      double mean = 0, squares = 0;
      for (std::int64_t c = 0; with_mean && c < end; ++c) mean += x[At(of * n + c)];
      mean /= static_cast<double>(end);
      for (std::int64_t c = 0; c < end; ++c) {
        const double from = x[At(of * n + c)] - (centred ? mean : 0);
        squares += from * from;
      }
      squares /= static_cast<double>(fault == "variance of N - 1" ? end - 1 : end);
      const double by = root ? std::sqrt(squares + epsilon) : squares + epsilon;
      for (std::int64_t c = 0; c < n; ++c)
        y.push_back((x[At(r * n + c)] - (shifted ? mean : 0)) / by *
                        (weighted ? inputs.at("weight")[At(c)] : 1) +
                    (biased ? inputs.at("bias")[At(c)] : 0));
    }
    return y;
  }

  Elements Gate(const std::string& fault) const {
    Elements y;
    for (std::size_t i = 0; i < inputs.at("x").size(); ++i) {
      double x = inputs.at("x")[i], g = inputs.at("gate")[i];
      if (fault == "x and gate change places") std::swap(x, g);
      double value = x / (1 + std::exp(-x));
      if (fault == "no sigmoid") value = x;
      if (fault == "sigmoid alone") value = 1 / (1 + std::exp(-x));
      if (fault == "gelu") value = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
      y.push_back(fault == "gate left out" ? value : value * g);
    }
    return y;
  }

  const KernelProblem& problem_;
  const nlohmann::json attributes_;
  const std::string mask_;
  const std::int64_t window_;
  const double attributes_scale_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_KERNELS_REFERENCE_H_
