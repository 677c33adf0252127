// How much room a text takes in JSON, and how deep one in JSON is nested.
#ifndef CUDNN_CI_BASE_JSON_BYTES_H_
#define CUDNN_CI_BASE_JSON_BYTES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cudnn_ci {

// The bytes of a string with its quotes, at most.
size_t JsonBytes(const std::string& text);

// How deep a text in JSON is nested; of a text that is none, up to where it ceases to be. To be asked before
// a stranger's text is parsed: each bracket takes fifty times its room as a value.
size_t JsonNesting(std::string_view text);
// What no record or report is nested as deep as.
inline constexpr size_t kMostJsonNesting = 32;

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_JSON_BYTES_H_
