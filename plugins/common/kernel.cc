// The launch of a filling kernel and the comparison of its words.
#include "common/kernel.h"

namespace cudnn_ci {
namespace {

constexpr unsigned char kFillByte = 0xA5;

}  // namespace

std::vector<std::uint32_t> RunFillKernel(const DriverApi& api, CUmodule module, const char* name,
                                         std::uint32_t count, unsigned block, std::uint32_t seed) {
  CUfunction kernel = nullptr;
  api.Require(api.ModuleGetFunction(&kernel, module, name), "cuModuleGetFunction");
  CUdeviceptr out = 0;
  const std::size_t bytes = std::size_t{count} * sizeof(std::uint32_t);
  api.Require(api.MemAlloc(&out, bytes), "cuMemAlloc");
  api.Require(api.MemsetD8(out, kFillByte, bytes), "cuMemsetD8");
  void* arguments[] = {&out, &count, &seed};
  api.Require(api.LaunchKernel(kernel, (count + block - 1) / block, 1, 1, block, 1, 1, 0, nullptr, arguments,
                               nullptr),
              "cuLaunchKernel");
  api.Require(api.CtxSynchronize(), "cuCtxSynchronize");
  std::vector<std::uint32_t> words(count);
  api.Require(api.MemcpyDtoH(words.data(), out, bytes), "cuMemcpyDtoH");
  api.Require(api.MemFree(out), "cuMemFree");
  return words;
}

std::string DescribeWrongWords(const std::vector<std::uint32_t>& words,
                               const std::function<std::uint32_t(std::uint32_t index)>& expected) {
  std::uint32_t wrong = 0, first = 0;
  const auto count = static_cast<std::uint32_t>(words.size());
  for (std::uint32_t i = 0; i < count; ++i)
    if (words[i] != expected(i) && wrong++ == 0) first = i;
  if (wrong == 0) return {};
  return std::to_string(wrong) + " of " + std::to_string(count) + " elements are wrong; first at " +
         std::to_string(first) + ": got " + std::to_string(words[first]) + ", expected " +
         std::to_string(expected(first));
}

}  // namespace cudnn_ci
