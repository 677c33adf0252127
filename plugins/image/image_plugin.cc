// The image plugin: its name. Its checks read the files of an image and need no GPU.
#include <cudnn_ci/check.hpp>

CCI_PLUGIN("image", "0.1.0",
           "the image's files, tested without a GPU: device code, symbols, tools, known faults")
