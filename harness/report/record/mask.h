// Masks the secrets of events: what reporters, journal and fold are handed.
#ifndef CUDNN_CI_REPORT_RECORD_MASK_H_
#define CUDNN_CI_REPORT_RECORD_MASK_H_

#include "base/secrets.h"
#include "model/record/event.h"

namespace cudnn_ci {

// Masks every text of the event that a check, a plugin or the machine has said. What other parts look up or
// compare stays: ids of cases, finding ids, names of subjects and devices, the run's time, digests and
// versions, and what the matrix says of the plan and its waivers.
void MaskSecrets(const Secrets& secrets, EventBody* body);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_MASK_H_
