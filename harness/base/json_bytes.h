// How much room a text takes in JSON.
#ifndef CUDNN_CI_BASE_JSON_BYTES_H_
#define CUDNN_CI_BASE_JSON_BYTES_H_

#include <cstddef>
#include <string>

namespace cudnn_ci {

// The bytes of a string with its quotes, at most.
size_t JsonBytes(const std::string& text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_JSON_BYTES_H_
