// Kinds of rows of knowledge that only cudnn-ci's own plugins read, as the SDK's cudnn_ci/facts.h has the
// others: one of these and a number that counts from 0 is a key of host->compatibility.
#ifndef CUDNN_CI_BASE_KNOWLEDGE_WORDS_H_
#define CUDNN_CI_BASE_KNOWLEDGE_WORDS_H_

namespace cudnn_ci {

inline constexpr char kKnowledgeNumber[] = "number.";  // of libraries, and the packages that bring them
inline constexpr char kKnowledgeBaked[] = "baked.";    // releases that are compiled into what needs a library
inline constexpr char kKnowledgeWord[] = "word.";      // of sources and of files' names

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_KNOWLEDGE_WORDS_H_
