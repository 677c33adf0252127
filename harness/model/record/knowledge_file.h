// A file of what is known of the world, as a run used it.
#ifndef CUDNN_CI_MODEL_RECORD_KNOWLEDGE_FILE_H_
#define CUDNN_CI_MODEL_RECORD_KNOWLEDGE_FILE_H_

#include <string>

namespace cudnn_ci {

struct KnowledgeFile {
  std::string schema;        // "cudnn-ci/packages/1"
  std::string as_of;         // the day of its rows, "2026-11-23"
  std::string path, sha256;  // lower-case hex
  // What named it: "CUDNN_CI_KNOWLEDGE", "--knowledge"; empty: it comes with cudnn-ci.
  std::string from = {};
  bool operator==(const KnowledgeFile&) const = default;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_KNOWLEDGE_FILE_H_
