// What clears the other suspects: the case of this run that speaks best against the next one.
#ifndef CUDNN_CI_REPORT_TEXT_SUSPECTS_H_
#define CUDNN_CI_REPORT_TEXT_SUSPECTS_H_

#include <string>

#include "model/verdict/verdict.h"

namespace cudnn_ci {

// "the driver: driver.canary passed on gpu0" where the image may be at fault, "the image's libraries:
// toolkit.runtime[subject=system] passed" where the runner is. Empty: there is no root cause in a case,
// another is blamed, a case took too long, nothing passed that speaks for the other, or something that
// speaks against it did not (whether or not anything rests on it). In a merged run nothing speaks for the
// driver: gpu0 may be that of another host.
std::string ExcludedSuspect(const Summary& summary, const Verdict& verdict);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_SUSPECTS_H_
