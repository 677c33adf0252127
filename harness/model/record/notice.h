// What a run says of itself as a whole: what it does not gate, warnings, why it is partial. A code with
// arguments; all codes and their sentences are in notice_list.h.
#ifndef CUDNN_CI_MODEL_RECORD_NOTICE_H_
#define CUDNN_CI_MODEL_RECORD_NOTICE_H_

#include <string>
#include <vector>

#include "model/json/value.h"

namespace cudnn_ci {

enum class NoticeCode : int;  // notice_list.h

struct Notice {
  NoticeCode code{};
  // By the names in the sentence. "text" is the whole sentence, of a notice that this version cannot say.
  Params args = {};
  bool operator==(const Notice&) const = default;
};
using Notices = std::vector<Notice>;

// "plugin-writable": the same for kinds of notices that need not be told apart.
const char* Name(NoticeCode code);
// The one of that name whose sentence these arguments fill; "other" where there is none.
Notice MakeNotice(const std::string& name, Params args);
// A sentence that this version has no code for.
Notice OtherNotice(std::string sentence);

// The sentence for people.
std::string SentenceOf(const Notice& notice);
std::vector<std::string> SentencesOf(const Notices& notices);
// Those of a partial run in one line: "filtered, shard 2/4"; empty for a whole one.
std::string PartialText(const Notices& partial);
// Of a record that holds a sentence for each notice: those of a later version, which this one cannot say,
// take theirs. False where there is not one sentence for each.
bool TakeSentences(const std::vector<std::string>& sentences, Notices* notices);
// The same of a partial run, whose record holds PartialText alone: where this version cannot say one
// of the notices, the text becomes the one notice. False where a text has no notice, or such a notice no
// text.
bool TakePartialText(const std::string& text, Notices* partial);
// A name for each, in order.
std::vector<std::string> CodesOf(const Notices& notices);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_NOTICE_H_
