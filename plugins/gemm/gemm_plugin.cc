// The gemm plugin: its name.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("gemm", "0.1.0",
           "matrix products through cuBLASLt and cuBLAS; every result is compared with an exact reference")
