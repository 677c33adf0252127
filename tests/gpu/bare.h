// What bare_conv.cc and bare_graph.cc share.
#ifndef CUDNN_CI_TESTS_GPU_BARE_H_
#define CUDNN_CI_TESTS_GPU_BARE_H_

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using Integers = std::vector<int64_t>;

struct Line {
  std::string operation, api, dtype, layout, algo;
  int64_t n, c, k, groups;
  Integers in, kernel, pad, stride, dilation, out;  // one for each axis

  size_t spatial() const { return in.size(); }
  cudnnDataType_t type() const;
  cudnnDataType_t sum_type() const;
  // n, c, sizes of the input; k, c/groups, sizes of the filter; n, k, sizes of the output.
  Integers X() const;
  Integers W() const;
  Integers Y() const;
};

// Ends the program unless the status is success.
void Cudnn(cudnnStatus_t status, const char* what);

// x, w and y on the device, and a workspace.
struct Memory {
  void *x, *w, *y, *workspace;
  size_t workspace_bytes;
};
using Run = std::function<bool(const Memory&)>;
// Memory, and the convolution as often as the check calls it.
bool Execute(const Line& line, size_t workspace, const Run& run);

// By the graph API: what heuristics A name first and, behind them, the fallback.
bool ConvolveByGraph(cudnnHandle_t handle, const Line& line);

#endif  // CUDNN_CI_TESTS_GPU_BARE_H_
