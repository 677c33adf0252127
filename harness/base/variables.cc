#include "base/variables.h"

#include <unistd.h>

namespace cudnn_ci {

std::string ValueOf(const Variables& environment, const std::string& name) {
  const auto at = environment.find(name);
  return at == environment.end() ? "" : at->second;
}

Variables OwnVariables() {
  Variables variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    if (const size_t equals = text.find('='); equals != std::string::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace cudnn_ci
