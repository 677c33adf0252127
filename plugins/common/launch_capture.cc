// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__STREAM.html and ..._GRAPH.html
#include "common/launch_capture.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostNodes = 64;
// Longer symbols are not demangled, whose nesting might be as deep.
constexpr std::size_t kLongestSymbol = 4096, kLongestName = 160;

// The kernel of a node; empty: it has none, or none that can be named.
std::string SymbolOf(const DriverApi& driver, CUgraphNode node) {
  KernelNodeParams params{};
  const char* name = nullptr;
  if (driver.GraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS) return {};
  const bool named =
      (params.function && driver.FuncGetName(&name, params.function) == CUDA_SUCCESS && name) ||
      (params.kernel && driver.KernelGetName && driver.KernelGetName(&name, params.kernel) == CUDA_SUCCESS &&
       name);
  return named ? std::string(name, strnlen(name, kLongestSymbol)) : std::string();
}

void ReadNodes(const DriverApi& driver, CUgraph graph, CapturedLaunches* captured) {
  CUgraphNode nodes[kMostNodes] = {};
  std::size_t count = kMostNodes;
  if (driver.GraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS) return;
  captured->whole = count < kMostNodes;
  for (std::size_t i = 0; i < std::min(count, kMostNodes); ++i) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (!nodes[i] || driver.GraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS) {
      captured->whole = false;
      continue;
    }
    // Which have kernels of their own.
    if (type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_HOST) captured->whole = false;
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    const std::string symbol = SymbolOf(driver, nodes[i]);
    std::vector<std::string>& symbols = captured->symbols;
    if (symbol.empty())
      captured->whole = false;
    else if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end())
      symbols.push_back(symbol);
  }
}

}  // namespace

CapturedLaunches CaptureLaunches(const DriverApi& driver, CUstream stream,
                                 const std::function<bool()>& launch) {
  CapturedLaunches captured;
  if (!driver.StreamBeginCapture || !driver.StreamEndCapture || !driver.GraphGetNodes ||
      !driver.GraphNodeGetType || !driver.GraphDestroy || !driver.GraphKernelNodeGetParams ||
      !driver.FuncGetName)
    return captured;
  // Of this thread alone: what another one does, such as to pin memory, must not end the recording.
  if (driver.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) != CUDA_SUCCESS) return captured;
  captured.tried = true;
  bool launched = false;
  try {
    launched = launch();
  } catch (const std::exception&) {
    launched = false;  // of the recording; whether it runs is seen where it runs
  }
  CUgraph graph = nullptr;
  // It ends a recording that was broken, too: the stream could not be used before.
  const CUresult ended = driver.StreamEndCapture(stream, &graph);
  captured.broken = ended != CUDA_SUCCESS || !graph || !launched;
  if (!captured.broken) ReadNodes(driver, graph, &captured);
  if (graph) driver.GraphDestroy(graph);
  return captured;
}

std::string KernelNameOf(const std::string& symbol) {
  std::string name = symbol;
  if (symbol.size() < kLongestSymbol && symbol.compare(0, 2, "_Z") == 0) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    if (status == 0 && demangled) name = demangled.get();
  }
  // The arguments begin at the last parenthesis outside of all brackets; "(anonymous namespace)::" has one
  // before.
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')' || name[i] == '>') ++depth;
    if (name[i] != '(' && name[i] != '<') continue;
    if (--depth == 0 && name[i] == '(' && i > 0) {
      name.resize(i);
      break;
    }
  }
  if (name.compare(0, 5, "void ") == 0) name.erase(0, 5);
  if (name.size() > kLongestName) name = name.substr(0, kLongestName - 3) + "...";
  return name;
}

}  // namespace cudnn_ci
