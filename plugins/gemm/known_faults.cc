#include "gemm/known_faults.h"

#include <algorithm>

namespace cudnn_ci {
namespace {

constexpr std::int64_t kWideSpan = std::int64_t{1} << 31;

bool IsWide(const MatmulLayout& layout) { return layout.ld * layout.columns >= kWideSpan; }

bool Holds(const std::string& name, const std::vector<std::string>& values, const MatmulSpec& spec,
           std::int64_t algorithm) {
  const auto is = [&values](const std::string& value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  if (name == "operation") return is("matmul");
  if (name == "dtype") return is(spec.TypeText());
  if (name == "algorithm") return algorithm < 0 || is(std::to_string(algorithm));
  if (name == "wide_span") return is(IsWide(spec.A()) || IsWide(spec.B()) ? "true" : "false");
  return name.compare(0, 18, "compute_capability") == 0;  // FitsGpu's
}

}  // namespace

bool HitsMatmul(const Predicates& hits, const MatmulSpec& spec, std::int64_t algorithm) {
  return std::all_of(hits.begin(), hits.end(),
                     [&](const auto& hit) { return Holds(hit.first, hit.second, spec, algorithm); });
}

}  // namespace cudnn_ci
