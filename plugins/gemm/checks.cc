// gemm.matmul: its parameters, and which of them make no sense.
#include <cudnn_ci/check.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/share.h"
#include "compute/compute_case.h"
#include "gemm/matmul_params.h"
#include "gemm/matmul_problem.h"

namespace cudnn_ci {
namespace {

// PyTorch takes 32 MiB on Hopper; a workspace of 64 KiB is enough for some split sums and too little for
// most.
constexpr std::size_t kSmallWorkspace = std::size_t{64} << 10, kWholeWorkspace = std::size_t{64} << 20;

// More than any GPU holds, and what the reference may take of the host's memory, in bytes.
constexpr double kMostElements = 0x1p34, kMostBytesOfData = 0x1p31;

std::size_t WorkspaceLimit(const MatmulParams& p) {
  return p.workspace == "none" ? 0 : p.workspace == "small" ? kSmallWorkspace : kWholeWorkspace;
}

struct Matmul {
  using Params = MatmulParams;

  static void Describe(Schema<Params>& s) {
    s.Summary("every element of a matrix product is right, and nothing else is written")
        .Layer(CCI_LAYER_CONVOLUTION)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .SecondOpinion()
        .Requires("toolkit.gemm")
        .TimeoutSeconds(60)
        .Shareable()
        .Concurrent();
    s.Param("dtype", &Params::dtype)
        .OneOf({"float64", "float32", "float16", "bfloat16", "int8", "float8_e4m3"})
        .Summary("type of all matrices; C and D are int32 for int8 and bfloat16 for float8_e4m3");
    s.Param("math", &Params::math)
        .OneOf({"default", "tf32"})
        .Default("default")
        .Summary("with default, the data of float32 shows a shorter type; tf32 allows TF32");
    s.Param("size", &Params::size)
        .Summary("rows and columns of D, and the products in each sum, such as 136x72x264");
    s.Param("trans", &Params::trans)
        .OneOf({"nn", "tn", "nt", "tt"})
        .Default("tn")
        .Summary("whether A and B are transposed");
    s.Param("padding", &Params::padding)
        .Range(0, 4096)
        .Default(0)
        .Summary("elements by which each leading dimension is larger than needed");
    s.Param("batch", &Params::batch).Range(1, 65536).Default(1).Summary("number of products");
    s.Param("alpha", &Params::alpha)
        .Default(1.0)
        .Summary("factor of the product: 0.5, 1, 2 or one of them negative");
    s.Param("beta", &Params::beta).Default(0.0).Summary("factor of C; 0: no C");
    s.Param("epilogue", &Params::epilogue)
        .OneOf({"none", "bias", "relu", "bias_relu", "gelu", "bias_gelu"})
        .Default("none")
        .Summary("operations on each sum before it is stored; GELU has a bound, all others are exact");
    s.Param("scales", &Params::scales)
        .OneOf({"none", "tensor", "row"})
        .Default("none")
        .Summary("scales of A and B: one for each tensor, or one for each row of A and column of B");
    s.Param("algo", &Params::algo)
        .OneOf({"auto", "every"})
        .Default("auto")
        .Summary("algorithm: the first that cuBLASLt's heuristics return, or every one that they return");
    s.Param("workspace", &Params::workspace)
        .OneOf({"none", "small", "all"})
        .Default("all")
        .Summary("largest workspace of an algorithm: none, small (64 KiB) or all (64 MiB)");
  }

  static void Validate(const Params& p, Problems& problems) {
    if (!MatmulSpec().SetSize(p.size))
      return problems.Add("size", "must be rows, columns and products, such as 136x72x264");
    const MatmulSpec spec = p.Spec();
    if (spec.MostElements() > kMostElements)
      problems.Add("size", "makes a matrix of more than 2^34 elements, all products of the batch together");
    else if (BytesOfData(spec) > kMostBytesOfData)
      problems.Add("size", "sums so many products that the expected result takes more than 2 GiB");
    if (p.math == "tf32" && p.dtype != "float32") problems.Add("math", "tf32 is only for float32");
    for (const auto& [name, value] : {std::pair<const char*, double>{"alpha", p.alpha}, {"beta", p.beta}})
      if (value != 0 && value != 0.5 && value != -0.5 && value != 1 && value != -1 && value != 2 &&
          value != -2)
        problems.Add(name, "must be 0, 0.5, 1, 2 or one of them negative; others cause rounding");
    if (p.alpha == 0) problems.Add("alpha", "0 leaves nothing to compute");
    if (p.scales != "none" && !p.Is8BitFloat()) problems.Add("scales", "are only for 8-bit floats");
    if (p.dtype == "int8" && (p.alpha != 1 || p.beta != 0 || p.epilogue != "none"))
      problems.Add("dtype", "int8 has neither factors nor epilogues");
    if (p.beta != 0 && p.scales != "none") problems.Add("beta", "must be 0 with scales");
  }

  static void Run(Context& ctx, const Params& p) {
    KeepToShare(ctx);
    MatmulProblem problem(p.Spec(), p.algo, WorkspaceLimit(p));
    RunComputeCase(ctx, &problem);
  }
};

CCI_REGISTER(Matmul, "matmul")

}  // namespace
}  // namespace cudnn_ci
