#include "model/json/json_bytes.h"

#include <type_traits>

namespace cudnn_ci {

size_t JsonBytes(const std::string& name, const Value& value) {
  constexpr size_t kLongestNumber = 24;
  constexpr size_t kPunctuation = 10;  // as a worker is told: `"n":{"i":1},`
  const size_t bytes = std::visit(
      [](const auto& v) -> size_t {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_arithmetic_v<T>) {
          return kLongestNumber;
        } else if constexpr (std::is_same_v<T, std::string>) {
          return JsonBytes(v);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          size_t sum = 1;
          for (const std::string& item : v) sum += JsonBytes(item) + 1;
          return sum;
        } else {
          return 1 + v.size() * (kLongestNumber + 1);
        }
      },
      value);
  return JsonBytes(name) + bytes + kPunctuation;
}

}  // namespace cudnn_ci
