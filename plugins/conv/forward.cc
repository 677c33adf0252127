// conv.forward: one forward convolution with exact data; every output element, every guard byte and every
// input byte is judged. Tells cuDNN's answers apart: not offered, failed, wrong.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <tuple>

#include "common/cudnn_loaded.h"
#include "conv/findings.h"
#include "conv/legacy_api.h"
#include "conv/oracle.h"
#include "conv/reference.h"
#include "conv/session.h"

namespace cudnn_ci {
namespace {

// cuDNN loads kernels and keeps workspaces of its own; without this much beside our buffers a failure
// would say nothing about the convolution.
constexpr std::size_t kDeviceHeadroom = std::size_t{256} << 20;
constexpr int kTimedRuns = 3;
// A convolution that takes longer is timed once.
constexpr double kLongRunMs = 300;

struct Params {
  std::string api, dtype, layout, algo, math, shape;
  std::vector<std::int64_t> x, w, pad, stride, dilation;
  std::int64_t groups = 1;

  ShapeFields Fields() const { return {x, w, pad, stride, dilation, groups}; }
};

// What is to be run, once the library agreed to it.
struct Choice {
  cudnnConvolutionFwdAlgo_t algorithm;
  cudnnMathType_t math;
  std::size_t workspace_bytes;
};

Arithmetic ArithmeticOf(cudnnConvolutionFwdAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT:
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING:
      return Arithmetic::kFft;
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD:
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
      return Arithmetic::kWinograd;
    default:
      return Arithmetic::kExact;
  }
}

std::string MebiBytes(double bytes) {
  return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20)) + 1) + " MiB";
}

std::string Short(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

// Bytes of host memory that can be used without swapping, by the kernel's estimate; none if it is unknown.
std::optional<double> AvailableHostBytes() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double kib = 0;
  while (file >> key >> kib && std::getline(file, unit))
    if (key == "MemAvailable:") return kib * 1024;
  return std::nullopt;
}

// One case, step by step. Ends the check through `ctx` as soon as the outcome is known.
class ForwardCase {
 public:
  ForwardCase(Context& ctx, const Params& p)
      : ctx_(ctx),
        params_(p),
        type_(DataTypeFrom(p.dtype)),
        layout_(LayoutFrom(p.layout)),
        shape_(MakeConvShape(p.Fields())) {}

  void Run() {
    try {
      Session& session = Session::Get(CudnnMajors(PromiseOf(ctx_, "image.cudnn"), ctx_.SubjectFolders()));
      session_ = &session;
      ctx_.Step("workspace query");
      LegacyForward forward(session.cudnn(), session.handle(), shape_, type_, layout_);
      const Choice choice = Choose(forward);
      RequireMemory(session, choice);
      ctx_.Step("reference");
      const std::shared_ptr<const Reference> reference = ReferenceOf(shape_);
      ctx_.Step("upload");
      Upload(session, *reference, choice);
      ctx_.Step("convolve");
      Convolve(session, forward, choice);
      ctx_.Step("compare");
      const bool right = Compare(session, *reference, choice);
      ctx_.Measure("workspace_bytes", static_cast<double>(choice.workspace_bytes), "B", CCI_GOAL_LOWER);
      if (right) Time(session, forward, choice);
      // Some sub-libraries are loaded by a convolution alone.
      JudgeLoadedCudnn(ctx_, kConvolutionCudnnMixed);
      session.Trim();
      if (right) SkipUndecided(choice);
    } catch (const CudnnFailure& e) {
      Fail(e);
    } catch (const std::runtime_error& e) {
      // Of the driver or of the session's start. The context may be unusable, so the process is done.
      ctx_.Poison(e.what());
      ctx_.Finding(kConvolutionFailed, e.what());
    }
  }

 private:
  [[noreturn]] void Fail(const CudnnFailure& failure) {
    JudgeLoadedCudnn(ctx_, kConvolutionCudnnMixed);
    std::string what = session_->CudnnText() + " answered " + failure.what();
    if (failure.unsupported()) {
      const std::string math = params_.math + " math, ";
      ctx_.Skip(CCI_SKIP_UNSUPPORTED,
                "algorithm " + params_.algo + " for " + params_.dtype + " " + params_.layout + ", " + math +
                    shape_.Text(),
                what);
    }
    const CUresult left = session_->driver().CtxSynchronize();
    if (left != CUDA_SUCCESS) {
      const std::string error = "cuCtxSynchronize: " + session_->driver().Describe(left);
      ctx_.Poison(error);
      what += "; then " + error;
    }
    ctx_.Finding(kConvolutionFailed, what + "; " + shape_.Text());
    ctx_.Stop();
  }

  double BoundOf(cudnnConvolutionFwdAlgo_t algorithm) const {
    return ErrorBound(ArithmeticOf(algorithm), type_, shape_);
  }

  // Leaves the math type set with which the choice is to be run.
  Choice Choose(LegacyForward& forward) {
    const cudnnMathType_t math = LegacyMath(params_.math);
    if (params_.algo != "auto") {
      forward.SetMath(math);
      const cudnnConvolutionFwdAlgo_t algorithm = LegacyAlgorithm(params_.algo);
      return {algorithm, math, forward.WorkspaceBytes(algorithm)};
    }
    proposed_ = true;
    std::string refusals = "no usable proposal";
    std::optional<Choice> undecided;
    forward.SetMath(math);
    for (const LegacyProposal& proposal : forward.Proposals()) {
      // As frameworks do: the math type that a proposal was made for belongs to it, and a proposal
      // that turns out not to be offered gives way to the next.
      Choice choice = {proposal.algorithm, params_.math == "default" ? proposal.math : math, 0};
      const std::string name = LegacyAlgorithmName(proposal.algorithm);
      try {
        forward.SetMath(choice.math);
        choice.workspace_bytes = forward.WorkspaceBytes(choice.algorithm);
      } catch (const CudnnFailure& e) {
        if (!e.unsupported()) throw;
        refusals += "; " + name + ": " + e.what();
        continue;
      }
      ctx_.Log("cuDNN proposes " + name);
      if (IsDecisive(BoundOf(choice.algorithm))) return choice;
      // Its numbers cannot be judged, so it is run only if nothing else is proposed.
      if (!undecided) undecided = choice;
    }
    if (!undecided) throw CudnnFailure("cudnnGetConvolutionForwardAlgorithm_v7: success, " + refusals, true);
    forward.SetMath(undecided->math);
    return *undecided;
  }

  BufferSizes Sizes(const Choice& choice) const {
    const std::size_t element = SizeOf(type_);
    return {static_cast<std::size_t>(shape_.InputCount()) * element,
            static_cast<std::size_t>(shape_.FilterCount()) * element,
            static_cast<std::size_t>(shape_.OutputCount()) * element, choice.workspace_bytes};
  }

  void RequireMemory(Session& session, const Choice& choice) {
    const BufferSizes sizes = Sizes(choice);
    const std::size_t device = DeviceMemory::BytesFor(sizes) + kDeviceHeadroom;
    const std::size_t free_bytes = session.FreeBytes();
    if (device > free_bytes)
      ctx_.Skip(CCI_SKIP_MEMORY, MebiBytes(static_cast<double>(device)) + " of device memory",
                MebiBytes(static_cast<double>(free_bytes)) + " free");
    const double host = ReferenceBytes(shape_) + static_cast<double>(sizes[kInput] + sizes[kFilter]) +
                        static_cast<double>(std::max({sizes[kInput], sizes[kFilter], sizes[kOutput]}));
    const std::optional<double> available = AvailableHostBytes();
    if (available && host > *available)
      ctx_.Skip(CCI_SKIP_MEMORY, MebiBytes(host) + " of host memory", MebiBytes(*available) + " available");
  }

  void Upload(Session& session, const Reference& reference, const Choice& choice) {
    const BufferSizes sizes = Sizes(choice);
    x_ = session.x.Get(sizes[kInput]);
    w_ = session.w.Get(sizes[kFilter]);
    EncodeData(reference.x, shape_.c, Product(shape_.in), type_, layout_, x_);
    EncodeData(reference.w, shape_.ChannelsPerGroup(), Product(shape_.kernel), type_, layout_, w_);
    const CUresult reserved = session.memory().Reserve(sizes);
    if (reserved == CUDA_ERROR_OUT_OF_MEMORY)
      ctx_.Skip(CCI_SKIP_MEMORY,
                MebiBytes(static_cast<double>(DeviceMemory::BytesFor(sizes))) + " of device memory",
                "cuMemAlloc: " + session.driver().Describe(reserved) + "; " +
                    MebiBytes(static_cast<double>(session.FreeBytes())) + " free");
    session.driver().Require(reserved, "cuMemAlloc");
    session.memory().Upload(kInput, x_);
    session.memory().Upload(kFilter, w_);
    // The fills are asynchronous; cuDNN may use streams of its own that do not wait for them.
    session.Synchronize();
  }

  void Launch(Session& session, const LegacyForward& forward, const Choice& choice) const {
    const DeviceMemory& m = session.memory();
    forward.Run(choice.algorithm, m.Pointer(kInput), m.Pointer(kFilter), m.Pointer(kOutput),
                m.Pointer(kWorkspace), choice.workspace_bytes);
  }

  void Convolve(Session& session, const LegacyForward& forward, const Choice& choice) {
    try {
      Launch(session, forward, choice);
    } catch (const CudnnFailure& e) {
      // What the library proposed and gave a workspace size for it cannot then call unsupported.
      if (proposed_ && e.unsupported())
        throw CudnnFailure("for its own proposal " + std::string(e.what()), false);
      throw;
    }
    session.Synchronize();
  }

  // One expectation or one finding for each thing that is judged.
  bool Compare(Session& session, const Reference& reference, const Choice& choice) {
    const BufferSizes sizes = Sizes(choice);
    const DeviceMemory& memory = session.memory();
    const std::string about = "; " + LegacyAlgorithmName(choice.algorithm) + ", " + session.CudnnText();
    const double bound = BoundOf(choice.algorithm);
    unsigned char* readback = session.readback.Get(std::max({sizes[kInput], sizes[kFilter], sizes[kOutput]}));
    memory.Download(kOutput, readback);
    const Judgement judgement =
        JudgeOutput(reference, type_, layout_, IsDecisive(bound) ? bound : kAnyNumber, readback);
    ctx_.Measure("max_error", judgement.worst_error, "", CCI_GOAL_LOWER);
    ctx_.Measure("error_bound", bound, "");
    if (judgement.wrong > 0) ctx_.Finding(kWrongValue, DescribeWrong(judgement, shape_, bound) + about);
    if (judgement.unwritten > 0)
      ctx_.Finding(kOutputNotWritten, DescribeUnwritten(judgement, shape_) + about);
    const std::string guards = memory.TouchedGuards();
    if (!guards.empty()) ctx_.Finding(kOutOfBoundsWrite, guards + about);
    bool kept = true;
    for (const auto& [name, original, text] : {std::tuple{kInput, x_, "x"}, std::tuple{kFilter, w_, "w"}}) {
      memory.Download(name, readback);
      if (std::memcmp(readback, original, sizes[name]) == 0) continue;
      const unsigned char* changed = std::mismatch(readback, readback + sizes[name], original).first;
      ctx_.Finding(kInputModified,
                   std::string(text) + " differs from byte " + std::to_string(changed - readback) + about);
      kept = false;
    }
    const bool right = judgement.AllMatch() && guards.empty() && kept;
    // Only a comparison that can fail counts as one that held.
    if (right && IsDecisive(bound))
      CCI_EXPECT_EQ(judgement.elements, shape_.OutputCount()) << "not all elements were compared";
    return right;
  }

  // Nothing was found wrong, but the numbers were not judged: that is no pass.
  void SkipUndecided(const Choice& choice) {
    const double bound = BoundOf(choice.algorithm);
    if (IsDecisive(bound)) return;
    const std::string name = LegacyAlgorithmName(choice.algorithm);
    ctx_.Skip(CCI_SKIP_UNSUPPORTED,
              "an error bound below " + Short(kDecisiveBound) + ", which one lost product exceeds; " +
                  shape_.Text(),
              "not verifiable with this data: errors of " + name + " reach " + Short(bound) + " over " +
                  std::to_string(shape_.Reduction()) + " products");
  }

  void Time(Session& session, const LegacyForward& forward, const Choice& choice) {
    ctx_.Step("time");
    std::vector<double> times;
    for (int i = 0; i < kTimedRuns; ++i) {
      times.push_back(session.Milliseconds([&] { Launch(session, forward, choice); }));
      if (times.back() > kLongRunMs) break;
    }
    std::sort(times.begin(), times.end());
    const double ms = times[times.size() / 2];
    ctx_.Measure("milliseconds", ms, "ms", CCI_GOAL_LOWER);
    if (ms > 0) ctx_.Measure("tflops", shape_.Flops() / ms / 1e9, "TFLOP/s", CCI_GOAL_HIGHER);
  }

  Context& ctx_;
  const Params& params_;
  const DataType type_;
  const Layout layout_;
  const ConvShape shape_;
  Session* session_ = nullptr;  // set before anything throws CudnnFailure
  bool proposed_ = false;       // the library chose the algorithm itself
  unsigned char *x_ = nullptr, *w_ = nullptr;
};

struct Forward {
  using Params = cudnn_ci::Params;
  static void Describe(Schema<Params>& s) {
    s.Summary("a forward convolution returns the right numbers, all of them, and touches nothing else")
        .Layer(CCI_LAYER_CONVOLUTION)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .Shareable()
        .Requires("cudnn.init")
        .TimeoutSeconds(60);
    s.Param("api", &Params::api).OneOf({"legacy"}).Default("legacy").Summary("the API that is used");
    s.Param("dtype", &Params::dtype)
        .OneOf({"float32", "float16", "bfloat16", "float64"})
        .Summary("type of x, w and y; accumulation is in float32, of float64 in float64");
    s.Param("layout", &Params::layout)
        .OneOf({"nchw", "nhwc"})
        .Default("nchw")
        .Summary("order in memory of x, w and y");
    s.Param("algo", &Params::algo)
        .OneOf({"auto", "implicit_gemm", "implicit_precomp_gemm", "gemm", "fft", "fft_tiling",
                "winograd_nonfused"})
        .Default("auto")
        .Summary("algorithm; auto is what cuDNN proposes first");
    s.Param("math", &Params::math)
        .OneOf({"default", "fma", "tensor"})
        .Default("default")
        .Summary("math type");
    auto shape = s.Shape("shape", &Params::shape);
    shape.Field("x", &Params::x).Summary("n, c, and one to three sizes");
    shape.Field("w", &Params::w).Summary("k, c/groups, and as many sizes");
    shape.Field("pad", &Params::pad).Default({0}).Summary("one value for all axes or one for each");
    shape.Field("stride", &Params::stride).Default({1}).Summary("one value for all axes or one for each");
    shape.Field("dilation", &Params::dilation).Default({1}).Summary("one value for all axes or one for each");
    shape.Field("groups", &Params::groups).Default(1).Summary("groups of channels that do not mix");
  }

  static void Validate(const Params& p, Problems& problems) {
    const ShapeFields fields = p.Fields();
    const std::vector<ShapeProblem> found = FindShapeProblems(fields);
    for (const ShapeProblem& problem : found)
      problems.Add(std::string("shape.") + problem.field, problem.why);
    if (!found.empty()) return;
    const std::int64_t reduction = MakeConvShape(fields).Reduction();
    if (reduction > kMaxReduction)
      problems.Add("shape.w", "sums " + std::to_string(reduction) +
                                  " products in an output; an exact reference has " +
                                  std::to_string(kMaxReduction) + " at most");
  }

  static void Run(Context& ctx, const Params& p) {
    if (ctx.Fact(CCI_FACT_CUDNN_LIBRARIES) == "jit")
      ctx.Skip(CCI_SKIP_ABSENT, "cuDNN's legacy API (libcudnn_ops, libcudnn_cnn)",
               "a JIT-only cuDNN: " + ctx.Fact(CCI_FACT_CUDNN_PATH));
    ForwardCase(ctx, p).Run();
  }
};

CCI_REGISTER(Forward, "forward")

}  // namespace
}  // namespace cudnn_ci
