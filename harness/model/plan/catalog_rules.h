// What must hold of all plugins together before anything is planned with them.
#ifndef CUDNN_CI_MODEL_PLAN_CATALOG_RULES_H_
#define CUDNN_CI_MODEL_PLAN_CATALOG_RULES_H_

#include <vector>

#include "model/matrix/matrix.h"
#include "model/plan/check_info.h"

namespace cudnn_ci {

// Problems with what the plugins declare, each at the file it is in and naming the other file where there are
// two: names and finding ids that are not unique over everything loaded, a plugin that does not bear its
// file's name, a check of another plugin's name, no checks, malformed names and versions, prerequisites that
// no plugin has or that go in a circle, parameters declared twice and defaults that do not fit their own
// declaration. Files that could not be described are left out. Pure.
std::vector<Problem> CatalogProblems(const Catalog& catalog);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PLAN_CATALOG_RULES_H_
