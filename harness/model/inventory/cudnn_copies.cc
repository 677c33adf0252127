#include "model/inventory/cudnn_copies.h"

#include <cudnn_ci/facts.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace cudnn_ci {
namespace {

// The number behind a mark, as in "-cu12" and "-cuda-12"; empty: the mark is not there, or stands before
// different ones.
std::string NumberBehind(const std::string& text, const std::string& mark) {
  std::set<std::string> numbers;
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const size_t begin = at + mark.size(), end = text.find_first_not_of("0123456789", begin);
    if (std::string number = text.substr(begin, end - begin); !number.empty())
      numbers.insert(std::move(number));
  }
  return numbers.size() == 1 ? *numbers.begin() : "";
}

}  // namespace

std::string CudaOfOrigin(const std::string& origin) {
  const std::string wheel = NumberBehind(origin, "-cu");
  return wheel.empty() ? NumberBehind(origin, "-cuda-") : wheel;
}

std::vector<CudnnCopyFacts> CudnnCopiesOf(const Facts& facts) {
  const auto value = [](const FactMap& map, const std::string& key) {
    const auto at = map.find(key);
    return at == map.end() ? std::string() : at->second;
  };
  // "/a/libcudnn.so.9" of "/a/libcudnn.so.9.19.0": two majors may lie in one folder.
  const auto without_minor = [](const std::string& path) {
    const size_t major = path.rfind(".so.");
    return path.substr(0, major == std::string::npos ? major : path.find('.', major + 4));
  };
  std::map<std::string, std::vector<std::string>> used;
  std::map<std::string, CudnnCopyFacts> copies;
  for (const auto& [subject, map] : facts.by_subject) {
    used[without_minor(value(map, CCI_FACT_CUDNN_PATH))].push_back(subject);
    for (int64_t i = 0;; ++i) {
      const std::string key = CCI_FACT_CUDNN_COPY + std::to_string(i);
      const std::string path = value(map, key + CCI_FACT_CUDNN_COPY_PATH);
      if (path.empty()) break;
      copies[path] = {path,
                      value(map, key + CCI_FACT_CUDNN_COPY_VERSION),
                      value(map, key + CCI_FACT_CUDNN_COPY_ORIGIN),
                      {}};
    }
  }
  std::vector<CudnnCopyFacts> found;
  for (auto& [path, copy] : copies) {
    if (const auto users = used.find(path); users != used.end()) copy.used_by = users->second;
    found.push_back(std::move(copy));
  }
  return found;
}

std::vector<CudnnCopyFacts> UnusedCudnnCopies(const Facts& facts) {
  std::vector<CudnnCopyFacts> copies = CudnnCopiesOf(facts);
  std::erase_if(copies, [](const CudnnCopyFacts& copy) { return !copy.used_by.empty(); });
  return copies;
}

}  // namespace cudnn_ci
