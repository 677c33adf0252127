// Products of matrices with exact sums (gemm/matmul_data.h), seen row by row: y = x w, with a bias and scales
// where there are some. A matrix of columns is one of rows, transposed: cuBLAS's B is x, its A is w.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "gemm/matmul_data.h"
#include "kernels/problem.h"

namespace cudnn_ci {
namespace {

using Shape = std::vector<std::int64_t>;

// [batch] is left out where there is one matrix.
KernelInput InputOf(const char* name, const MatmulData& data, int place, const Operands& operands,
                    Shape shape, Shape strides) {
  const Operand& operand = operands.inputs[static_cast<std::size_t>(place)];
  KernelInput input = {name, NameOf(operand.type), std::move(shape), std::move(strides),
                       std::vector<unsigned char>(operand.Bytes())};
  data.Encode(static_cast<std::size_t>(place), input.bytes.data());
  return input;
}

Shape Batched(const MatmulSpec& spec, std::int64_t first, Shape of_matrix) {
  if (spec.batch > 1) of_matrix.insert(of_matrix.begin(), first);
  return of_matrix;
}

KernelProblem Product(const MatmulSpec& spec) {
  const auto data = std::make_shared<const MatmulData>(spec);
  const Operands operands = OperandsOf(spec);
  const MatmulInputs places = InputsOf(spec);
  const MatmulLayout a = spec.A(), b = spec.B();
  KernelProblem problem;
  problem.attributes = nlohmann::json{{"out_dtype", NameOf(spec.OutputType())}}.dump();
  problem.inputs = {InputOf("x", *data, places.b, operands, Batched(spec, spec.batch, {spec.n, spec.k}),
                            Batched(spec, b.stride, spec.transpose_b ? Shape{1, b.ld} : Shape{b.ld, 1})),
                    InputOf("w", *data, places.a, operands, Batched(spec, spec.batch, {spec.k, spec.m}),
                            Batched(spec, a.stride, spec.transpose_a ? Shape{1, a.ld} : Shape{a.ld, 1}))};
  if (places.bias >= 0)
    problem.inputs.push_back(InputOf("bias", *data, places.bias, operands, {spec.m}, {1}));
  if (spec.scales != MatmulScales::kNone) {
    const bool rows = spec.scales == MatmulScales::kRow;
    problem.inputs.push_back(
        InputOf("x_scale", *data, places.b_scale, operands, {rows ? spec.n : 1, 1}, {1, 1}));
    problem.inputs.push_back(
        InputOf("w_scale", *data, places.a_scale, operands, {1, rows ? spec.m : 1}, {rows ? spec.m : 1, 1}));
  }
  problem.outputs = {{"y", spec.OutputType(), Batched(spec, spec.batch, {spec.n, spec.m}),
                      [data](std::int64_t index, KernelArithmetic) { return data->RuleOf(index); }}};
  return problem;
}

KernelProblem InnerSizesDiffer() {
  MatmulSpec spec;
  spec.type = DataType::kFloat16;
  spec.m = 64, spec.n = 48, spec.k = 40;
  KernelProblem problem = Product(spec);
  spec.k = 32;
  problem.inputs[1] = Product(spec).inputs[1];
  problem.outputs.clear();
  return problem;
}

}  // namespace

std::vector<KernelProblemRow> ProductProblems() {
  std::vector<KernelProblemRow> rows;
  const auto add = [&rows](const char* name, DataType type, const char* size, const auto& set) {
    MatmulSpec spec;
    spec.type = type;
    spec.SetSize(size);  // m, n and k: columns and rows of y, and what is summed
    set(&spec);
    rows.push_back({name, [spec] { return Product(spec); }});
  };
  const auto plain = [](MatmulSpec*) {};
  const auto linear = [](MatmulSpec* s) { s->transpose_a = true; };
  add("product/float16_rows", DataType::kFloat16, "136x72x264", plain);
  add("product/bfloat16_columns", DataType::kBfloat16, "136x72x264",
      [](MatmulSpec* s) { s->transpose_a = s->transpose_b = true; });
  add("product/float32_odd", DataType::kFloat32, "67x45x131", plain);
  add("product/float32_small", DataType::kFloat32, "17x5x33", linear);
  add("product/float64", DataType::kFloat64, "64x48x96", linear);
  add("product/bfloat16_batch", DataType::kBfloat16, "64x40x96", [](MatmulSpec* s) { s->batch = 7; });
  add("product/float16_long", DataType::kFloat16, "64x48x4096", linear);
  add("product/bfloat16_one_row", DataType::kBfloat16, "1024x1x768", linear);
  add("product/int8", DataType::kInt8, "64x48x96", linear);
  add("product/bfloat16_bias", DataType::kBfloat16, "136x72x264",
      [](MatmulSpec* s) { s->transpose_a = s->bias = true; });
  const auto scaled = [](MatmulScales scales) {
    return [scales](MatmulSpec* s) {
      s->transpose_a = true;
      s->scales = scales;
    };
  };
  add("product/float8_scaled", DataType::kFloat8E4m3, "64x48x96", scaled(MatmulScales::kTensor));
  add("product/float8_rows_scaled", DataType::kFloat8E4m3, "64x48x96", scaled(MatmulScales::kRow));
  add("product/int8_scaled", DataType::kInt8, "64x48x96", scaled(MatmulScales::kTensor));
  add("product/int8_rows_scaled", DataType::kInt8, "64x48x96", scaled(MatmulScales::kRow));
  rows.push_back({"product/inner_sizes_differ", InnerSizesDiffer});
  return rows;
}

}  // namespace cudnn_ci
