// What is known, from the files that come with cudnn-ci, for tests.
#ifndef CUDNN_CI_TESTS_UNIT_SHIPPED_KNOWLEDGE_H_
#define CUDNN_CI_TESTS_UNIT_SHIPPED_KNOWLEDGE_H_

#include <vector>

#include "model/knowledge/knowledge.h"

namespace cudnn_ci {

// With the files or folders of `places` laid over them. Ends the test program where they have a problem.
Knowledge ShippedKnowledge(const std::vector<KnowledgePlace>& places = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_SHIPPED_KNOWLEDGE_H_
