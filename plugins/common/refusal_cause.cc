// The statuses of cuDNN 8 and 9, by number: the two share none, and no header has the names of both.
#include "common/refusal_cause.h"

namespace cudnn_ci {
namespace {

RefusalCause CauseOf8(int status) {
  switch (status) {
    case 1:   // NOT_INITIALIZED
    case 10:  // LICENSE_ERROR
    case 11:  // RUNTIME_PREREQUISITE_MISSING
    case 14:  // VERSION_MISMATCH
      return RefusalCause::kInstallation;
    case 2:  // ALLOC_FAILED
      return RefusalCause::kMemory;
    case 6:  // ARCH_MISMATCH
      return RefusalCause::kTypeOrArchitecture;
    case 0:
    case 9:  // NOT_SUPPORTED
      return RefusalCause::kNotSaid;
    default:
      return RefusalCause::kError;
  }
}

RefusalCause CauseOf9(int status) {
  switch (status) {
    case 1001:  // NOT_INITIALIZED
    case 1002:  // SUBLIBRARY_VERSION_MISMATCH
    case 1005:  // LICENSE_ERROR
    case 1008:  // SUBLIBRARY_LOADING_FAILED
    case 3005:  // INCOMPATIBLE_CUDA_DRIVER
    case 3006:  // INCOMPATIBLE_CUDART
    case 3008:  // RUNTIME_PREREQUISITE_MISSING
    case 3009:  // SUBLIBRARY_UNAVAILABLE
      return RefusalCause::kInstallation;
    case 2006:  // BAD_PARAM_SIZE_INSUFFICIENT
    case 4003:  // HOST_ALLOCATION_FAILED
    case 4004:  // DEVICE_ALLOCATION_FAILED
      return RefusalCause::kMemory;
    case 3003:  // DATA_TYPE
    case 3007:  // ARCH_MISMATCH
    case 3010:  // SHARED_MEMORY_INSUFFICIENT, which is a size of the GPU's multiprocessors
      return RefusalCause::kTypeOrArchitecture;
    case 3004:
      return RefusalCause::kLayout;
    case 3011:
      return RefusalCause::kPadding;
    case 3002:  // SHAPE
    case 3014:  // INVALID_DYNAMIC_SHAPE
      return RefusalCause::kShape;
    case 3001:  // GRAPH_PATTERN
    case 3013:  // CUDA_GRAPH_NATIVE_API
      return RefusalCause::kOperation;
    default:
      return status == 0 || (status >= 3000 && status < 4000) ? RefusalCause::kNotSaid : RefusalCause::kError;
  }
}

}  // namespace

RefusalCause CauseOf(int major, int status) { return major < 9 ? CauseOf8(status) : CauseOf9(status); }

const char* TextOf(RefusalCause cause) {
  switch (cause) {
    case RefusalCause::kInstallation:
      return "broken installation or driver";
    case RefusalCause::kMemory:
      return "memory";
    case RefusalCause::kTypeOrArchitecture:
      return "type or architecture";
    case RefusalCause::kLayout:
      return "layout";
    case RefusalCause::kPadding:
      return "padding";
    case RefusalCause::kShape:
      return "shape";
    case RefusalCause::kOperation:
      return "operation";
    case RefusalCause::kError:
      return "error";
    case RefusalCause::kNotSaid:
      break;
  }
  return "not said";
}

}  // namespace cudnn_ci
