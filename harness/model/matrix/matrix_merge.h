// What a matrix file says, laid over what its parents say. Private to model.
#ifndef CUDNN_CI_MODEL_MATRIX_MATRIX_MERGE_H_
#define CUDNN_CI_MODEL_MATRIX_MATRIX_MERGE_H_

#include <vector>

#include "model/json/json_tree.h"

namespace cudnn_ci {

// Lays `file` over `merged`, which is what its parents say, or empty. Sections ("runner", "shapes", ...)
// merge by key, the file's value in the parent's place. Items of "checks" and "waivers" append; one with the
// "id" of a parent's takes its place, and `{"id": ..., "remove": true}` takes it out. The values of all keys
// must have their right kinds already. `extends`: whether the file has a parent; `complete`: whether all
// parents could be read, so that an unknown id is a problem.
void MergeFile(Json::Object file, bool extends, bool complete, Json::Object* merged,
               std::vector<Problem>* problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_MATRIX_MERGE_H_
