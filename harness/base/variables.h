// Variables of an environment, by name.
#ifndef CUDNN_CI_BASE_VARIABLES_H_
#define CUDNN_CI_BASE_VARIABLES_H_

#include <map>
#include <string>

namespace cudnn_ci {

using Variables = std::map<std::string, std::string>;

// The value of a variable; empty where it is not set.
std::string ValueOf(const Variables& environment, const std::string& name);

// The variables of this process.
Variables OwnVariables();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_VARIABLES_H_
