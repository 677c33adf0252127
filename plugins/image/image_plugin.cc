// The image plugin: its name. Its checks read the files of an image and need no GPU.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("image", "0.1.0",
           "what the files of an image say of it, without a GPU: device code, symbols, tools, faults")
