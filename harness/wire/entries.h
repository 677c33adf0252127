// The table of version facts and the rows of what is known, as texts for messages. Every worker is told of
// them, few ask: they are packed once, and unpacked where a plugin asks for the first.
#ifndef CUDNN_CI_WIRE_ENTRIES_H_
#define CUDNN_CI_WIRE_ENTRIES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci::wire {

// Texts of at most so many bytes, or of one entry. A key is followed by its value, each by its size:
// "1:k,2:ab,".
std::vector<std::string> PackEntries(const std::map<std::string, std::string>& entries, size_t most_bytes);

// The entries of a text, or of several texts in a row; if one is malformed, the entries before it.
std::map<std::string, std::string> UnpackEntries(std::string_view text);

}  // namespace cudnn_ci::wire

#endif  // CUDNN_CI_WIRE_ENTRIES_H_
