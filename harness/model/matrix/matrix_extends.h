// A matrix file and its parents, merged into one object. Private to model.
#ifndef CUDNN_CI_MODEL_MATRIX_MATRIX_EXTENDS_H_
#define CUDNN_CI_MODEL_MATRIX_MATRIX_EXTENDS_H_

#include <string>
#include <vector>

#include "model/json/json_tree.h"

namespace cudnn_ci {

struct MergedDocument {
  Json::Object top;
  bool complete = false;           // every file was read; else `top` is not worth looking at
  Position position;               // of the child's first brace
  std::string sha256;              // over the bytes of all files, parents first
  std::vector<std::string> files;  // what was read, parents first
};

// Reads the file and what it extends, and merges them (matrix_merge.h). Problems of one file do not hide
// those of another. Parents called "builtin:NAME" lie in `builtin_folder`, others by absolute paths below
// `root`.
MergedDocument ReadMerged(const std::string& path, const std::string& builtin_folder, const std::string& root,
                          std::vector<Problem>* problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_MATRIX_EXTENDS_H_
