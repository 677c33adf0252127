#include "gemm/matmul_params.h"

namespace cudnn_ci {

MatmulSpec MatmulParams::Spec() const {
  MatmulSpec spec;
  spec.SetSize(size);
  spec.type = DataTypeFrom(dtype);
  spec.tf32 = math == "tf32";
  spec.transpose_a = trans[0] == 't', spec.transpose_b = trans[1] == 't';
  spec.padding = padding, spec.batch = batch;
  spec.alpha = alpha, spec.beta = beta;
  spec.bias = epilogue.compare(0, 4, "bias") == 0;
  spec.relu = epilogue == "relu" || epilogue == "bias_relu";
  spec.gelu = epilogue == "gelu" || epilogue == "bias_gelu";
  if (scales != "none") spec.scales = scales == "row" ? MatmulScales::kRow : MatmulScales::kTensor;
  return spec;
}

}  // namespace cudnn_ci
