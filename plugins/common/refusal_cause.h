// Why cuDNN does not offer something, as far as the number of its status says it. Data alone; must not know
// the library that answered.
#ifndef CUDNN_CI_PLUGINS_COMMON_REFUSAL_CAUSE_H_
#define CUDNN_CI_PLUGINS_COMMON_REFUSAL_CAUSE_H_

namespace cudnn_ci {

enum class RefusalCause {
  kInstallation,        // a part, a driver or a prerequisite of the library is missing or does not fit
  kMemory,              // of the device or the host
  kTypeOrArchitecture,  // not for this data type, or not on this GPU
  kLayout,
  kPadding,
  kShape,
  kOperation,  // not this operation, or not with what follows it
  kError,      // it was refused or failed for a reason that is no lack of support
  kNotSaid,
};

// Of a status, by its number, of a cuDNN of this major version: 9 has a code of its own for most reasons, 8
// says NOT_SUPPORTED to nearly all. Numbers that are not known say nothing where they stand among those of
// NOT_SUPPORTED, and are errors elsewhere. 0, which is success, says nothing.
// https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html
RefusalCause CauseOf(int major, int status);

// "type or architecture", for a report.
const char* TextOf(RefusalCause cause);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_REFUSAL_CAUSE_H_
