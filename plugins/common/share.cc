// Reads the facts.
#include "common/share.h"

#include <cudnn_ci/facts.h>

#include <charconv>
#include <cstdint>
#include <string>

#include "common/host_memory.h"
#include "common/numeric/parallel.h"
#include "common/session.h"

namespace cudnn_ci {
namespace {

// 0 where it is no number.
std::int64_t Number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0 ? number : 0;
}

}  // namespace

void KeepToShare(const Context& ctx) {
  LimitCpus(static_cast<int>(Number(ctx.Fact(CCI_FACT_SHARE_PROCESSORS))));
  LimitHostMemory(static_cast<double>(Number(ctx.Fact(CCI_FACT_SHARE_HOST_MEMORY))));
  Session::LimitMemory(static_cast<std::size_t>(Number(ctx.Fact(CCI_FACT_SHARE_DEVICE_MEMORY))));
}

}  // namespace cudnn_ci
