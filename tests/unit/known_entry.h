// What a plugin is told of the knowledge that comes with cudnn-ci.
#ifndef CUDNN_CI_TESTS_UNIT_KNOWN_ENTRY_H_
#define CUDNN_CI_TESTS_UNIT_KNOWN_ENTRY_H_

#include <string>

namespace cudnn_ci {

// By the keys of cudnn_ci/facts.h; empty: there is none.
std::string KnownEntry(const std::string& key);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_KNOWN_ENTRY_H_
