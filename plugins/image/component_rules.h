// The rows of knowledge/packages.json that tell which libraries an image has, as the harness tells them.
#ifndef CUDNN_CI_PLUGINS_IMAGE_COMPONENT_RULES_H_
#define CUDNN_CI_PLUGINS_IMAGE_COMPONENT_RULES_H_

#include "common/known_regressions.h"
#include "image/contents/components.h"

namespace cudnn_ci {

ComponentRules ReadComponentRules(const TableEntry& entry);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_COMPONENT_RULES_H_
