#include "model/record/case_ref.h"

namespace cudnn_ci {

std::string DisplayId(const CaseRef& ref) {
  return ref.device.empty() || ref.device == "gpu0" ? ref.id : ref.id + "@" + ref.device;
}

}  // namespace cudnn_ci
