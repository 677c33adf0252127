// Descriptors and calls of the legacy API, the same for cuDNN 8 and 9. Judges nothing.
#include "conv/legacy/legacy_api.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/cudnn_types.h"
#include "conv/legacy/algorithms.h"

namespace cudnn_ci {
namespace {

// The last `count` axes, as the ints that descriptors take.
std::vector<int> LastAxes(const Axes& axes, int count) {
  return std::vector<int>(axes.end() - count, axes.end());
}

std::string Spaced(const std::vector<int>& values) {
  std::string text;
  for (const int v : values) text.append(1, ' ').append(std::to_string(v));
  return text;
}

}  // namespace

cudnnMathType_t LegacyMath(const std::string& name) {
  if (name == "default") return CUDNN_DEFAULT_MATH;
  if (name == "fma") return CUDNN_FMA_MATH;
  if (name == "tensor") return CUDNN_TENSOR_OP_MATH;
  throw std::invalid_argument("unknown math type '" + name + "'");
}

LegacyConvolution::LegacyConvolution(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem,
                                     DataType type, Layout layout)
    : api_(api), handle_(handle), problem_(problem), type_(type), layout_(layout) {
  const ConvShape& shape = problem_.shape;
  if (!shape.PadsAlike())
    throw CudnnFailure("the legacy API has one pad for both ends of an axis", true, 0,
                       RefusalCause::kPadding);
  try {
    Require(api_.CreateTensorDescriptor(&x_), "cudnnCreateTensorDescriptor");
    Require(api_.CreateTensorDescriptor(&y_), "cudnnCreateTensorDescriptor");
    Require(api_.CreateFilterDescriptor(&w_), "cudnnCreateFilterDescriptor");
    Require(api_.CreateConvolutionDescriptor(&convolution_), "cudnnCreateConvolutionDescriptor");
    SetTensor(x_, {"x", shape.n, shape.c, shape.in});
    SetTensor(y_, {"y", shape.n, shape.k, shape.out});
    SetFilterAndConvolution();
  } catch (...) {
    Destroy();
    throw;
  }
}

LegacyConvolution::~LegacyConvolution() { Destroy(); }

void LegacyConvolution::Destroy() {
  if (convolution_) api_.DestroyConvolutionDescriptor(convolution_);
  if (w_) api_.DestroyFilterDescriptor(w_);
  if (y_) api_.DestroyTensorDescriptor(y_);
  if (x_) api_.DestroyTensorDescriptor(x_);
}

void LegacyConvolution::Require(cudnnStatus_t status, const char* call) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const bool unsupported = api_.IsUnsupported(status);
  throw CudnnFailure(std::string(call) + ": " + api_.Describe(status), unsupported, static_cast<int>(status),
                     CauseOf(api_.major(), static_cast<int>(status)));
}

void LegacyConvolution::SetTensor(cudnnTensorDescriptor_t descriptor, const Tensor& tensor) {
  const int spatial = problem_.shape.spatial, rank = 2 + spatial;
  std::vector<int> dims = {static_cast<int>(tensor.outer), static_cast<int>(tensor.channels)};
  for (const int size : LastAxes(tensor.sizes, spatial)) dims.push_back(size);
  // Strides in the order of dims, whatever the order in memory. NHWC puts channels innermost. A shape has
  // fewer than 2^31 elements, so that every stride is an int.
  std::vector<int> strides(static_cast<std::size_t>(rank));
  const bool channels_last = layout_ == Layout::kNhwc;
  int stride = channels_last ? dims[1] : 1;
  for (int axis = rank - 1; axis >= 2; --axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= dims[static_cast<std::size_t>(axis)];
  }
  strides[1] = channels_last ? 1 : stride;
  strides[0] = channels_last ? stride : stride * dims[1];
  Require(api_.SetTensorNdDescriptor(descriptor, CudnnTypeOf(type_), rank, dims.data(), strides.data()),
          "cudnnSetTensorNdDescriptor");
}

void LegacyConvolution::SetFilterAndConvolution() {
  const ConvShape& shape = problem_.shape;
  const int spatial = shape.spatial;
  std::vector<int> dims = {static_cast<int>(shape.k), static_cast<int>(shape.ChannelsPerGroup())};
  for (const int size : LastAxes(shape.kernel, spatial)) dims.push_back(size);
  // Sizes stay in the order k, c, r, s; the format alone says how they lie in memory.
  const cudnnTensorFormat_t format = layout_ == Layout::kNhwc ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  Require(api_.SetFilterNdDescriptor(w_, CudnnTypeOf(type_), format, 2 + spatial, dims.data()),
          "cudnnSetFilterNdDescriptor");
  Require(api_.SetConvolutionNdDescriptor(convolution_, spatial, LastAxes(shape.pad, spatial).data(),
                                          LastAxes(shape.stride, spatial).data(),
                                          LastAxes(shape.dilation, spatial).data(), CUDNN_CROSS_CORRELATION,
                                          CudnnSumTypeOf(type_)),
          "cudnnSetConvolutionNdDescriptor");
  Require(api_.SetConvolutionGroupCount(convolution_, static_cast<int>(shape.groups)),
          "cudnnSetConvolutionGroupCount");
}

void LegacyConvolution::RequireOutputSize() const {
  const ConvShape& shape = problem_.shape;
  std::vector<int> got(static_cast<std::size_t>(2 + shape.spatial));
  Require(api_.GetConvolutionNdForwardOutputDim(convolution_, x_, w_, 2 + shape.spatial, got.data()),
          "cudnnGetConvolutionNdForwardOutputDim");
  std::vector<int> wanted = {static_cast<int>(shape.n), static_cast<int>(shape.k)};
  for (const int size : LastAxes(shape.out, shape.spatial)) wanted.push_back(size);
  if (got == wanted) return;
  throw CudnnFailure(
      "cudnnGetConvolutionNdForwardOutputDim: answered" + Spaced(got) + ", expected" + Spaced(wanted), false);
}

void LegacyConvolution::SetMath(cudnnMathType_t math) {
  Require(api_.SetConvolutionMathType(convolution_, math), "cudnnSetConvolutionMathType");
}

const char* LegacyConvolution::ProposalCall(bool search) const {
  switch (problem_.operation) {
    case Operation::kBackwardData:
      return search ? "cudnnFindConvolutionBackwardDataAlgorithmEx"
                    : "cudnnGetConvolutionBackwardDataAlgorithm_v7";
    case Operation::kBackwardFilter:
      return search ? "cudnnFindConvolutionBackwardFilterAlgorithmEx"
                    : "cudnnGetConvolutionBackwardFilterAlgorithm_v7";
    case Operation::kForward:
      break;
  }
  return search ? "cudnnFindConvolutionForwardAlgorithmEx" : "cudnnGetConvolutionForwardAlgorithm_v7";
}

std::vector<LegacyProposal> LegacyConvolution::Proposals(const VariantPack* m) const {
  const auto ask = [this, m](auto* answers, int room, const auto& function) {
    int count = 0;
    Require(function(room, &count, answers), ProposalCall(m != nullptr));
    std::vector<LegacyProposal> proposals;
    for (int i = 0; i < count; ++i)
      if (answers[i].status == CUDNN_STATUS_SUCCESS)
        proposals.push_back({static_cast<int>(answers[i].algo), answers[i].mathType, answers[i].memory});
    return proposals;
  };
  cudnnConvolutionFwdAlgoPerf_t forward[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  cudnnConvolutionBwdDataAlgoPerf_t data[CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT];
  cudnnConvolutionBwdFilterAlgoPerf_t filter[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT];
  switch (problem_.operation) {
    case Operation::kBackwardData:
      return ask(data, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, [&](int room, int* count, auto* answers) {
        return m ? api_.FindConvolutionBackwardDataAlgorithmEx(handle_, w_, m->inputs[1], y_, m->inputs[0],
                                                               convolution_, x_, m->outputs[0], room, count,
                                                               answers, m->workspace, m->workspace_bytes)
                 : api_.GetConvolutionBackwardDataAlgorithm_v7(handle_, w_, y_, convolution_, x_, room, count,
                                                               answers);
      });
    case Operation::kBackwardFilter:
      return ask(filter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, [&](int room, int* count, auto* answers) {
        return m ? api_.FindConvolutionBackwardFilterAlgorithmEx(handle_, x_, m->inputs[1], y_, m->inputs[0],
                                                                 convolution_, w_, m->outputs[0], room, count,
                                                                 answers, m->workspace, m->workspace_bytes)
                 : api_.GetConvolutionBackwardFilterAlgorithm_v7(handle_, x_, y_, convolution_, w_, room,
                                                                 count, answers);
      });
    case Operation::kForward:
      break;
  }
  return ask(forward, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, [&](int room, int* count, auto* answers) {
    return m ? api_.FindConvolutionForwardAlgorithmEx(handle_, x_, m->inputs[0], w_, m->inputs[1],
                                                      convolution_, y_, m->outputs[0], room, count, answers,
                                                      m->workspace, m->workspace_bytes)
             : api_.GetConvolutionForwardAlgorithm_v7(handle_, x_, w_, convolution_, y_, room, count,
                                                      answers);
  });
}

std::size_t LegacyConvolution::WorkspaceBytes(int algorithm) const {
  std::size_t bytes = 0;
  switch (problem_.operation) {
    case Operation::kBackwardData:
      Require(api_.GetConvolutionBackwardDataWorkspaceSize(
                  handle_, w_, y_, convolution_, x_, static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm),
                  &bytes),
              "cudnnGetConvolutionBackwardDataWorkspaceSize");
      break;
    case Operation::kBackwardFilter:
      Require(api_.GetConvolutionBackwardFilterWorkspaceSize(
                  handle_, x_, y_, convolution_, w_, static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm),
                  &bytes),
              "cudnnGetConvolutionBackwardFilterWorkspaceSize");
      break;
    case Operation::kForward:
      Require(
          api_.GetConvolutionForwardWorkspaceSize(handle_, x_, w_, convolution_, y_,
                                                  static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), &bytes),
          "cudnnGetConvolutionForwardWorkspaceSize");
      break;
  }
  return bytes;
}

void LegacyConvolution::Run(int algorithm, const VariantPack& m) const {
  // Scaling factors are read as float64 for float64, else as float32.
  const float one = 1, zero = 0;
  const double one64 = 1, zero64 = 0;
  const bool wide = type_ == DataType::kFloat64;
  const void* alpha = wide ? static_cast<const void*>(&one64) : &one;
  const void* beta = wide ? static_cast<const void*>(&zero64) : &zero;
  switch (problem_.operation) {
    case Operation::kBackwardData:
      return Require(
          api_.ConvolutionBackwardData(handle_, alpha, w_, m.inputs[1], y_, m.inputs[0], convolution_,
                                       static_cast<cudnnConvolutionBwdDataAlgo_t>(algorithm), m.workspace,
                                       m.workspace_bytes, beta, x_, m.outputs[0]),
          "cudnnConvolutionBackwardData");
    case Operation::kBackwardFilter:
      return Require(
          api_.ConvolutionBackwardFilter(handle_, alpha, x_, m.inputs[1], y_, m.inputs[0], convolution_,
                                         static_cast<cudnnConvolutionBwdFilterAlgo_t>(algorithm), m.workspace,
                                         m.workspace_bytes, beta, w_, m.outputs[0]),
          "cudnnConvolutionBackwardFilter");
    case Operation::kForward:
      return Require(api_.ConvolutionForward(handle_, alpha, x_, m.inputs[0], w_, m.inputs[1], convolution_,
                                             static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), m.workspace,
                                             m.workspace_bytes, beta, y_, m.outputs[0]),
                     "cudnnConvolutionForward");
  }
}

namespace {

// One algorithm with one math type. Those of a list share the convolution.
class LegacyCandidate : public Candidate {
 public:
  LegacyCandidate(std::shared_ptr<LegacyConvolution> convolution, int algorithm, cudnnMathType_t math,
                  std::optional<std::size_t> proposed_bytes)
      : convolution_(std::move(convolution)),
        algorithm_(algorithm),
        math_(math),
        proposed_bytes_(proposed_bytes) {}
  std::string Name() const override {
    return LegacyAlgorithmName(convolution_->problem().operation, algorithm_);
  }
  std::size_t Prepare() override {
    convolution_->SetMath(math_);
    return convolution_->WorkspaceBytes(algorithm_);
  }
  bool deterministic() const override {
    return LegacyAlgorithmOf(convolution_->problem().operation, algorithm_).deterministic;
  }
  std::int64_t number() const override { return algorithm_; }
  std::optional<std::size_t> proposed_bytes() const override { return proposed_bytes_; }
  void Run(const VariantPack& memory) override { convolution_->Run(algorithm_, memory); }

 private:
  const std::shared_ptr<LegacyConvolution> convolution_;
  const int algorithm_;
  const cudnnMathType_t math_;
  const std::optional<std::size_t> proposed_bytes_;
};

// What the algorithm asks for that wants most, so that a search leaves none out; up to what frameworks give.
std::size_t SearchBytes(const LegacyConvolution& convolution) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::size_t most = 0;
  for (const LegacyAlgorithm& a : LegacyAlgorithms(convolution.problem().operation)) {
    try {
      most = std::max(most, convolution.WorkspaceBytes(a.number));
    } catch (const CudnnFailure& e) {
      if (!e.unsupported()) throw;
    }
  }
  return std::min(most, kMost);
}

}  // namespace

Candidates LegacyCandidates(const CudnnApi& api, cudnnHandle_t handle, const Problem& problem, DataType type,
                            Layout layout, const std::string& choice, const std::string& math,
                            const SearchMemory& search_memory, bool possible) {
  const auto convolution = std::make_shared<LegacyConvolution>(api, handle, problem, type, layout);
  if (possible) convolution->RequireOutputSize();
  const cudnnMathType_t asked_math = LegacyMath(math);
  Candidates candidates;
  const auto add = [&](int algorithm, cudnnMathType_t with, std::optional<std::size_t> bytes = std::nullopt) {
    candidates.list.push_back(std::make_unique<LegacyCandidate>(convolution, algorithm, with, bytes));
  };
  if (choice == "every") {
    for (const LegacyAlgorithm& a : LegacyAlgorithms(problem.operation)) add(a.number, asked_math);
  } else if (choice == "auto" || choice == "find") {
    const bool search = choice == "find";
    candidates.asked = convolution->ProposalCall(search);
    convolution->SetMath(asked_math);
    const VariantPack memory = search ? search_memory(SearchBytes(*convolution)) : VariantPack{};
    // As frameworks do: the math type that a proposal was made for belongs to it.
    for (const LegacyProposal& p : convolution->Proposals(search ? &memory : nullptr)) {
      const cudnnMathType_t with = math == "default" ? p.math : asked_math;
      add(p.algorithm, with, with == p.math ? std::optional(p.workspace_bytes) : std::nullopt);
    }
  } else {
    const LegacyAlgorithm* named = FindLegacyAlgorithm(problem.operation, choice);
    if (!named) throw std::invalid_argument("unknown algorithm '" + choice + "'");
    add(named->number, asked_math);
  }
  return candidates;
}

}  // namespace cudnn_ci
