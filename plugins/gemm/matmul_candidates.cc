#include "gemm/matmul_candidates.h"

#include <memory>
#include <optional>
#include <utility>

#include "gemm/cublas_types.h"
#include "gemm/matmul_data.h"

namespace cudnn_ci {
namespace {

enum Epilogue { kNoEpilogue = 1, kRelu = 2, kBias = 4, kGelu = 32 };
constexpr int kRowScales = 3;  // CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F

LtMatrix MatrixOf(const MatmulSpec& spec, const MatmulLayout& layout, DataType type) {
  return {
      RealTypeOf(type), static_cast<std::uint64_t>(layout.rows), static_cast<std::uint64_t>(layout.columns),
      layout.ld,        static_cast<std::int32_t>(spec.batch),   layout.stride};
}

LtProduct ProductOf(const MatmulSpec& spec) {
  LtProduct product;
  product.compute = ComputeTypeOf(spec.type, spec.tf32);
  product.scale = ScaleTypeOf(spec.type);
  product.transpose_a = spec.transpose_a, product.transpose_b = spec.transpose_b;
  product.a = MatrixOf(spec, spec.A(), spec.type);
  product.b = MatrixOf(spec, spec.B(), spec.type);
  product.d = MatrixOf(spec, spec.D(), spec.OutputType());
  const int epilogue = (spec.bias ? kBias : 0) + (spec.relu ? kRelu : 0) + (spec.gelu ? kGelu : 0);
  product.epilogue = epilogue == 0 ? kNoEpilogue : epilogue;
  product.bias_type = RealTypeOf(spec.OutputType());
  if (spec.scales == MatmulScales::kRow) product.scale_mode = kRowScales;
  return product;
}

class MatmulCandidate : public Candidate {
 public:
  MatmulCandidate(const CublasSession& session, const MatmulSpec& spec, LtAlgorithm algorithm,
                  std::size_t workspace_limit)
      : session_(session), spec_(spec), algorithm_(std::move(algorithm)), workspace_limit_(workspace_limit) {}

  std::string Name() const override { return algorithm_.Text(); }
  std::size_t Prepare() override { return algorithm_.workspace_bytes; }
  std::optional<std::size_t> allowed_bytes() const override { return workspace_limit_; }
  // What the documentation promises of one stream and one kind of GPU.
  bool deterministic() const override { return true; }
  std::int64_t number() const override { return algorithm_.id; }
  void Run(const VariantPack& pack) override {
    const MatmulInputs places = InputsOf(spec_);
    const auto input = [&pack](int place) {
      return place < 0 ? nullptr : pack.inputs[static_cast<std::size_t>(place)];
    };
    LtProduct product = ProductOf(spec_);
    product.bias = input(places.bias);
    product.a_scale = input(places.a_scale), product.b_scale = input(places.b_scale);
    LtCall call;
    call.a = input(places.a), call.b = input(places.b), call.d = pack.outputs[0];
    call.c = places.c < 0 ? call.d : input(places.c);
    call.algorithm = &algorithm_;
    call.workspace = pack.workspace, call.workspace_bytes = pack.workspace_bytes;
    call.stream = session_.stream();
    Multiply(product, call);
  }

 private:
  void Multiply(const LtProduct& product, LtCall call) const {
    const auto alpha_f = static_cast<float>(spec_.alpha), beta_f = static_cast<float>(spec_.beta);
    const auto alpha_i = static_cast<std::int32_t>(spec_.alpha),
               beta_i = static_cast<std::int32_t>(spec_.beta);
    call.alpha = &alpha_f, call.beta = &beta_f;
    if (product.scale == kReal64F) call.alpha = &spec_.alpha, call.beta = &spec_.beta;
    if (product.scale == kReal32I) call.alpha = &alpha_i, call.beta = &beta_i;
    Asked([&] { session_.lt().Multiply(product, call); });
  }

  const CublasSession& session_;
  const MatmulSpec spec_;
  const LtAlgorithm algorithm_;
  const std::size_t workspace_limit_;
};

}  // namespace

Candidates MatmulCandidates(const CublasSession& session, const MatmulSpec& spec, std::size_t workspace_limit,
                            int most) {
  Candidates candidates;
  candidates.asked = "cublasLtMatmulAlgoGetHeuristic";
  // Where there are scales the heuristics are to know of them: any address will do.
  LtProduct product = ProductOf(spec);
  static const float kAny = 1;
  if (spec.scales != MatmulScales::kNone) product.a_scale = product.b_scale = &kAny;
  for (LtAlgorithm& algorithm :
       Asked([&] { return session.lt().Algorithms(product, workspace_limit, most); }))
    candidates.list.push_back(
        std::make_unique<MatmulCandidate>(session, spec, std::move(algorithm), workspace_limit));
  return candidates;
}

}  // namespace cudnn_ci
