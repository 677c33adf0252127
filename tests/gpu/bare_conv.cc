// What the conv plugin is measured against: makes the same cuDNN calls for the same convolutions, with
// nothing around them. No isolation, no reference, no report. Independent of the project's own code on
// purpose; links cuDNN directly.
//
// Each line of the cases: OPERATION API DTYPE LAYOUT ALGO AXES N C K GROUPS, then a value for each axis of
// the input, the filter, pads, strides and dilations.
#include <cudnn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "bare.h"
#include "bare_cases.h"
#include "bare_device.h"

namespace {

const std::map<std::string, std::pair<cudnnDataType_t, size_t>> kTypes = {
    {"float32", {CUDNN_DATA_FLOAT, 4}},       {"float16", {CUDNN_DATA_HALF, 2}},
    {"bfloat16", {CUDNN_DATA_BFLOAT16, 2}},   {"float64", {CUDNN_DATA_DOUBLE, 8}},
    {"int8", {CUDNN_DATA_INT8, 1}},           {"float8_e4m3", {CUDNN_DATA_FP8_E4M3, 1}},
    {"float8_e5m2", {CUDNN_DATA_FP8_E5M2, 1}}};
const std::map<std::string, int> kForwardAlgos = {{"implicit_gemm", 0}, {"implicit_precomp_gemm", 1},
                                                  {"gemm", 2},          {"fft", 4},
                                                  {"fft_tiling", 5},    {"winograd_nonfused", 7}};

size_t Count(const Integers& dims) {
  size_t count = 1;
  for (const int64_t d : dims) count *= static_cast<size_t>(d);
  return count;
}

Integers Dims(int64_t outer, int64_t channels, const Integers& sizes) {
  Integers dims = {outer, channels};
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  return dims;
}

std::vector<int> Ints(const Integers& values) { return {values.begin(), values.end()}; }

struct Descriptors {
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t conv;

  explicit Descriptors(const Line& l) {
    Cudnn(cudnnCreateTensorDescriptor(&x), "x");
    Cudnn(cudnnCreateTensorDescriptor(&y), "y");
    Cudnn(cudnnCreateFilterDescriptor(&w), "w");
    Cudnn(cudnnCreateConvolutionDescriptor(&conv), "conv");
    const cudnnTensorFormat_t format = l.layout == "nhwc" ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    const int rank = static_cast<int>(2 + l.spatial());
    Cudnn(cudnnSetTensorNdDescriptorEx(x, format, l.type(), rank, Ints(l.X()).data()), "set x");
    Cudnn(cudnnSetTensorNdDescriptorEx(y, format, l.type(), rank, Ints(l.Y()).data()), "set y");
    Cudnn(cudnnSetFilterNdDescriptor(w, l.type(), format, rank, Ints(l.W()).data()), "set w");
    Cudnn(cudnnSetConvolutionNdDescriptor(conv, rank - 2, Ints(l.pad).data(), Ints(l.stride).data(),
                                          Ints(l.dilation).data(), CUDNN_CROSS_CORRELATION, l.sum_type()),
          "set conv");
    Cudnn(cudnnSetConvolutionGroupCount(conv, static_cast<int>(l.groups)), "groups");
  }
  ~Descriptors() {
    cudnnDestroyConvolutionDescriptor(conv);
    cudnnDestroyFilterDescriptor(w);
    cudnnDestroyTensorDescriptor(y);
    cudnnDestroyTensorDescriptor(x);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
};

// An operation's three calls.
template <class Answer, class Get, class Workspace, class Call>
bool Convolve(const Line& l, const Descriptors& d, int named, Get get, Workspace workspace_of, Call call) {
  Answer answers[10];
  int count = 1;
  if (named >= 0) {
    answers[0].algo = static_cast<decltype(answers[0].algo)>(named);
    answers[0].mathType = CUDNN_DEFAULT_MATH;
    answers[0].status = CUDNN_STATUS_SUCCESS;
  } else {
    Cudnn(get(10, &count, answers), "proposals");
  }
  for (int i = 0; i < count; ++i) {
    if (answers[i].status != CUDNN_STATUS_SUCCESS) continue;
    Cudnn(cudnnSetConvolutionMathType(d.conv, answers[i].mathType), "math");
    size_t bytes = 0;
    if (workspace_of(answers[i].algo, &bytes) != CUDNN_STATUS_SUCCESS) continue;
    return Execute(l, bytes,
                   [&](const Memory& m) { return call(answers[i].algo, m) == CUDNN_STATUS_SUCCESS; });
  }
  return false;
}

bool ConvolveByLegacy(cudnnHandle_t h, const Line& l) {
  const Descriptors d(l);
  const float one_f = 1, zero_f = 0;
  const double one_d = 1, zero_d = 0;
  const bool wide = l.type() == CUDNN_DATA_DOUBLE;
  const void* one = wide ? static_cast<const void*>(&one_d) : &one_f;
  const void* zero = wide ? static_cast<const void*>(&zero_d) : &zero_f;
  const int named = l.algo == "auto" ? -1 : kForwardAlgos.at(l.algo);
  if (l.operation == "backward_data")
    return Convolve<cudnnConvolutionBwdDataAlgoPerf_t>(
        l, d, named,
        [&](int n, int* c, auto* a) {
          return cudnnGetConvolutionBackwardDataAlgorithm_v7(h, d.w, d.y, d.conv, d.x, n, c, a);
        },
        [&](auto algo, size_t* bytes) {
          return cudnnGetConvolutionBackwardDataWorkspaceSize(h, d.w, d.y, d.conv, d.x, algo, bytes);
        },
        [&](auto algo, const Memory& m) {
          return cudnnConvolutionBackwardData(h, one, d.w, m.w, d.y, m.y, d.conv, algo, m.workspace,
                                              m.workspace_bytes, zero, d.x, m.x);
        });
  if (l.operation == "backward_filter")
    return Convolve<cudnnConvolutionBwdFilterAlgoPerf_t>(
        l, d, named,
        [&](int n, int* c, auto* a) {
          return cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, d.x, d.y, d.conv, d.w, n, c, a);
        },
        [&](auto algo, size_t* bytes) {
          return cudnnGetConvolutionBackwardFilterWorkspaceSize(h, d.x, d.y, d.conv, d.w, algo, bytes);
        },
        [&](auto algo, const Memory& m) {
          return cudnnConvolutionBackwardFilter(h, one, d.x, m.x, d.y, m.y, d.conv, algo, m.workspace,
                                                m.workspace_bytes, zero, d.w, m.w);
        });
  return Convolve<cudnnConvolutionFwdAlgoPerf_t>(
      l, d, named,
      [&](int n, int* c, auto* a) {
        return cudnnGetConvolutionForwardAlgorithm_v7(h, d.x, d.w, d.conv, d.y, n, c, a);
      },
      [&](auto algo, size_t* bytes) {
        return cudnnGetConvolutionForwardWorkspaceSize(h, d.x, d.w, d.conv, d.y, algo, bytes);
      },
      [&](auto algo, const Memory& m) {
        return cudnnConvolutionForward(h, one, d.x, m.x, d.w, m.w, d.conv, algo, m.workspace,
                                       m.workspace_bytes, zero, d.y, m.y);
      });
}

bool Read(const std::string& text, Line* l) {
  std::istringstream in(text);
  size_t axes = 0;
  if (!(in >> l->operation >> l->api >> l->dtype >> l->layout >> l->algo >> axes >> l->n >> l->c >> l->k >>
        l->groups))
    return false;
  for (Integers* list : {&l->in, &l->kernel, &l->pad, &l->stride, &l->dilation}) {
    list->resize(axes);
    for (int64_t& value : *list)
      if (!(in >> value)) return false;
  }
  for (size_t a = 0; a < axes; ++a)
    l->out.push_back((l->in[a] + 2 * l->pad[a] - l->dilation[a] * (l->kernel[a] - 1) - 1) / l->stride[a] + 1);
  return kTypes.count(l->dtype) == 1;
}

}  // namespace

void Cudnn(cudnnStatus_t s, const char* what) {
  if (s == CUDNN_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, cudnnGetErrorString(s));
  std::exit(1);
}

cudnnDataType_t Line::type() const { return kTypes.at(dtype).first; }
cudnnDataType_t Line::sum_type() const {
  return dtype == "float64" ? CUDNN_DATA_DOUBLE : dtype == "int8" ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
}
Integers Line::X() const { return Dims(n, c, in); }
Integers Line::W() const { return Dims(k, c / groups, kernel); }
Integers Line::Y() const { return Dims(n, k, out); }

bool Execute(const Line& l, size_t workspace, const Run& run) {
  const size_t size = kTypes.at(l.dtype).second;
  const size_t bytes[3] = {size * Count(l.X()), size * Count(l.W()), size * Count(l.Y())};
  const Buffer x(bytes[0]), w(bytes[1]), y(bytes[2]), ws(workspace);
  const Buffer* buffers[3] = {&x, &w, &y};
  const int result = l.operation == "forward" ? 2 : l.operation == "backward_data" ? 0 : 1;
  std::vector<char> host(*std::max_element(bytes, bytes + 3), 0);
  for (int i = 0; i < 3; ++i) {
    if (i == result)
      buffers[i]->Fill(0xff);
    else
      buffers[i]->Upload(host.data());
  }
  const Memory memory = {x.get(), w.get(), y.get(), ws.get(), workspace};
  bool ran = true;
  // Once to verify, three times to measure: as often as the check calls it.
  for (int i = 0; i < 4 && ran; ++i) ran = run(memory);
  Cuda(cuCtxSynchronize(), "synchronize");
  for (int i = 0; i < 3; ++i) buffers[i]->Download(host.data());
  return ran;
}

BareCases RunCases(const char* path) {
  cudnnHandle_t handle;
  Cudnn(cudnnCreate(&handle), "cudnnCreate");
  return RunLines(path, [handle](const std::string& text, bool* supported) {
    Line line;
    if (!Read(text, &line)) return false;
    *supported = line.api == "graph" ? ConvolveByGraph(handle, line) : ConvolveByLegacy(handle, line);
    return true;
  });
}
