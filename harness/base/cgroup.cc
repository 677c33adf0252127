#include "base/cgroup.h"

#include <fstream>
#include <sstream>

namespace cudnn_ci {
namespace {

bool Readable(const std::string& path) {
  std::ifstream file(path);
  return file.peek() != std::ifstream::traits_type::eof();
}

// Of a line "4:memory,cpu:/job" the group, if it is this controller's. Version 2 has a line without one.
std::optional<std::string> GroupOf(const std::string& line, const std::string& controller) {
  const size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  std::istringstream names(line.substr(first + 1, second - first - 1));
  std::string name;
  bool its_own = controller.empty() && second == first + 1;
  while (std::getline(names, name, ',')) its_own = its_own || name == controller;
  return its_own ? std::optional(line.substr(second + 1)) : std::nullopt;
}

}  // namespace

int64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : 0;
}

std::optional<int64_t> KeyedNumberIn(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string k, rest;
  for (int64_t value = 0; file >> k >> value; std::getline(file, rest))
    if (k == key) return value;
  return std::nullopt;
}

Cgroup FindCgroup(const std::string& root, const std::string& controller, const std::string& v2,
                  const std::string& v1) {
  const std::string base = root + "/sys/fs/cgroup", of_controller = base + "/" + controller;
  std::string own_v1, own_v2, group;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    own_v2 = GroupOf(line, "").value_or(own_v2);
    own_v1 = GroupOf(line, controller).value_or(own_v1);
  }
  Cgroup found;
  // Our own group by its path, or the root of what is mounted: in a container that is our own.
  for (const std::string& g : {base + own_v2, base, base + "/unified" + own_v2})
    if (group.empty() && Readable(g + "/" + v2)) {
      group = g;
      found.v2 = true;
    }
  for (const std::string& g : {of_controller + own_v1, of_controller})
    if (group.empty() && Readable(g + "/" + v1)) group = g;
  while (!group.empty() && group.back() == '/') group.pop_back();
  for (; group.size() >= base.size(); group.resize(group.rfind('/'))) found.folders.push_back(group);
  return found;
}

}  // namespace cudnn_ci
