#include "gemm/known_faults.h"

#include <algorithm>

namespace cudnn_ci {
namespace {

constexpr std::int64_t kWideSpan = std::int64_t{1} << 31;

bool IsWide(const MatmulLayout& layout) { return layout.ld * layout.columns >= kWideSpan; }

bool Is(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool IsFlag(const std::vector<std::string>& values, bool value) {
  return Is(values, value ? "true" : "false");
}

// What is the same for a product and for a group of them.
bool Holds(const std::string& name, const std::vector<std::string>& values, const MatmulSpec& spec) {
  if (name == "dtype") return Is(values, spec.TypeText());
  if (name == "wide_span") return IsFlag(values, IsWide(spec.A()) || IsWide(spec.B()));
  return name.compare(0, 18, "compute_capability") == 0;  // FitsGpu's
}

}  // namespace

bool HitsMatmul(const Predicates& hits, const MatmulSpec& spec, std::int64_t algorithm) {
  return std::all_of(hits.begin(), hits.end(), [&](const auto& hit) {
    const auto& [name, values] = hit;
    if (name == "operation") return Is(values, "matmul");
    if (name == "algorithm") return algorithm < 0 || Is(values, std::to_string(algorithm));
    return Holds(name, values, spec);
  });
}

bool HitsGrouped(const Predicates& hits, const GroupedSpec& spec) {
  return std::all_of(hits.begin(), hits.end(), [&](const auto& hit) {
    const auto& [name, values] = hit;
    if (name == "operation") return Is(values, "grouped_matmul");
    if (name == "empty_group") return IsFlag(values, spec.HasEmptyGroup());
    return std::any_of(
        spec.groups.begin(), spec.groups.end(),
        [&name = name, &values = values](const MatmulSpec& group) { return Holds(name, values, group); });
  });
}

}  // namespace cudnn_ci
