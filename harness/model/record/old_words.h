// What plugins built before ABI 1.5 and records of earlier versions say in words only. This is the one place
// that reads a sentence to learn what it means.
#ifndef CUDNN_CI_MODEL_RECORD_OLD_WORDS_H_
#define CUDNN_CI_MODEL_RECORD_OLD_WORDS_H_

#include <string>
#include <vector>

#include "model/record/notice.h"
#include "model/record/outcome.h"

namespace cudnn_ci {

// Of a skip for memory: a device's, unless it speaks of host memory alone.
Resource MemoryInWords(const std::string& need, const std::string& seen);

// Fills in what the record does not hold: whose memory, and the subject that is missing.
void CompleteOld(Skipped* skipped);
void CompleteOld(Finding* finding);
// Notices of which only the sentences are known; those that have arguments stay.
void CompleteOld(const std::vector<std::string>& sentences, Notices* notices);
void CompleteOldPartial(const std::string& text, Notices* partial);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_OLD_WORDS_H_
