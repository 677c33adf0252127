// One line of the journal: an event to text and back, and the chain that ties the lines together. Knows no
// files.
#ifndef CUDNN_CI_REPORT_RECORD_JOURNAL_LINE_H_
#define CUDNN_CI_REPORT_RECORD_JOURNAL_LINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/record/event.h"

namespace cudnn_ci {

// Longest line that is written or read, in bytes with its line feed.
inline constexpr size_t kMaxJournalLine = 1 << 20;

// The event as one line with its line feed. Long texts are cut until the line fits; empty if it never does.
// *chain is the "h" of the line before, empty at the start; it becomes this line's.
std::string EncodeEvent(const Event& event, std::string* chain);

// A line of the journal, with its line feed, from an object's text that lacks "h" ("{...}").
std::string SealLine(std::string_view object, std::string* chain);

// Whether the line (without line feed) follows `*chain`, which then becomes this line's.
bool FollowsInChain(std::string_view line, std::string* chain);

// The event of a line (without line feed); nothing when this version does not know its type, which is then
// put into *unknown_type. *last_seq is the seq of the line before, 0 at the start, *chain its "h"; both
// become this line's. Throws DecodeError (model/record/field_reader.h).
std::optional<Event> DecodeLine(std::string_view line, int64_t* last_seq, std::string* chain,
                                std::string* unknown_type);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_JOURNAL_LINE_H_
