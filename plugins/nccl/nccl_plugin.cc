// The nccl plugin: its name.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("nccl", "0.1.0", "the image's NCCL: collectives, bit for bit")
