#include "common/known_rows.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstdlib>

namespace cudnn_ci {
namespace {

// Empty: the facts do not tell.
std::string ComputeCapabilityOfDevice(const Context& ctx) {
  const std::string uuid = ctx.DeviceUuid();
  const int count = std::atoi(ctx.Fact(CCI_FACT_GPU_COUNT).c_str());
  for (int i = 0; i < count; ++i) {
    const std::string gpu = CCI_FACT_GPU + std::to_string(i);
    if (ctx.Fact((gpu + CCI_FACT_GPU_UUID).c_str()) == uuid)
      return ctx.Fact((gpu + CCI_FACT_GPU_COMPUTE_CAPABILITY).c_str());
  }
  return "";
}

}  // namespace

std::vector<KnownRegression> KnownRowsOf(const Context& ctx, const std::string& version, const HitsCase& hits,
                                         const std::string& library) {
  std::vector<KnownRegression> rows = KnownRegressionsOf(ctx, version, library);
  const std::string gpu = rows.empty() ? "" : ComputeCapabilityOfDevice(ctx);
  const Satisfies satisfies = [&ctx](const std::string& v, const std::string& range) {
    return ctx.Satisfies(v, range);
  };
  const auto other = [&](const KnownRegression& row) {
    return !hits(row.hits) || !FitsGpu(row.hits, gpu, satisfies);
  };
  rows.erase(std::remove_if(rows.begin(), rows.end(), other), rows.end());
  return rows;
}

std::string TextOfKnown(const std::vector<KnownRegression>& rows, std::initializer_list<const char*> effects,
                        const HitsCase& hits) {
  std::string text;
  for (const KnownRegression& row : rows) {
    const bool meant = std::any_of(effects.begin(), effects.end(),
                                   [&row](const char* effect) { return row.effect == effect; });
    if (meant && hits(row.hits)) text += "; " + row.Text();
  }
  return text;
}

}  // namespace cudnn_ci
