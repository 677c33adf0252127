// Commands that run one case of a recorded run again.
#ifndef CUDNN_CI_REPORT_TEXT_REPRODUCTION_H_
#define CUDNN_CI_REPORT_TEXT_REPRODUCTION_H_

#include <string>

#include "model/verdict/summary.h"

namespace cudnn_ci {

// The command that runs this one case again, where the run was started; "" before RunStarted.
std::string Reproduction(const Summary& summary, const CaseRef& ref);

// The same from outside, in a new container of the image; "" if the image was not named, or if the
// run was started from outside.
std::string ContainerReproduction(const Summary& summary, const CaseRef& ref);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_REPRODUCTION_H_
