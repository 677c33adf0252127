// Folders that others have filled, removed with all that is in them.
#ifndef CUDNN_CI_BASE_REMOVE_TREE_H_
#define CUDNN_CI_BASE_REMOVE_TREE_H_

#include <string>

namespace cudnn_ci {

// Removes the folder, however deep it is and whatever the modes of what is in it. Follows no link, needs two
// descriptors and no stack for the depth. What cannot be removed (a mount, another user's) stays, and so does
// what is left after `seconds`: a check may make more than can be removed in time. False then.
bool RemoveTree(const std::string& path, double seconds);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_REMOVE_TREE_H_
