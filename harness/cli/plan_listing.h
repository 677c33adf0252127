// The plan as `list` and --dry-run print it.
#ifndef CUDNN_CI_CLI_PLAN_LISTING_H_
#define CUDNN_CI_CLI_PLAN_LISTING_H_

#include "model/plan/plan.h"

namespace cudnn_ci {

// Prints the cases, one id a line with what is predetermined, or with `json` as cudnn-ci/list/1. Returns the
// exit code: 0, or 5 when standard output cannot take it.
int PrintPlan(const Plan& plan, bool json);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_PLAN_LISTING_H_
