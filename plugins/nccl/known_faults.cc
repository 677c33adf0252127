#include "nccl/known_faults.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace cudnn_ci {
namespace {

#if defined(__aarch64__)
constexpr char kProcessor[] = "aarch64";
#else
constexpr char kProcessor[] = "x86_64";
#endif

}  // namespace

bool HitsCollective(const Predicates& hits, const CollectiveSpec& spec) {
  const auto holds = [&spec](const std::string& name, const std::vector<std::string>& values) {
    const auto is = [&values](const std::string& value) {
      return std::find(values.begin(), values.end(), value) != values.end();
    };
    if (name == "operation") return is("collective");
    if (name == "reduction") return is(NameOf(spec.reduction));
    if (name == "ranks") return is(std::to_string(spec.ranks));
    if (name == "gpus_min") return spec.ranks >= std::atoi(values.front().c_str());
    if (name == "processor") return is(kProcessor);
    return name.compare(0, 18, "compute_capability") == 0;  // FitsGpu's
  };
  return std::all_of(hits.begin(), hits.end(),
                     [&](const auto& hit) { return !hit.second.empty() && holds(hit.first, hit.second); });
}

}  // namespace cudnn_ci
