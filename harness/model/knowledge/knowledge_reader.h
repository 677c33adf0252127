// Reads one file of knowledge, strictly: every unknown key, wrong value and doubled row is a problem at its
// place. Private to model.
#ifndef CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_READER_H_
#define CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_READER_H_

#include <string>
#include <vector>

#include "model/knowledge/knowledge.h"

namespace cudnn_ci {

// Reads a parsed file of one of KnowledgeFormats(). `base`: it comes with cudnn-ci, and must have every list.
// Sets *as_of. The rows bear no index of their file.
std::vector<KnowledgeRow> ReadKnowledgeFile(const Json& json, const std::string& schema, bool base,
                                            std::string* as_of, std::vector<Problem>* problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_KNOWLEDGE_KNOWLEDGE_READER_H_
