#include "model/json/value.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "base/text.h"

namespace cudnn_ci {

namespace {

// '-' separates the excluded part of a filter, so it cannot stand in an id.
std::string WithoutMinus(std::string text) {
  std::replace(text.begin(), text.end(), '-', 'm');
  return text;
}

std::string NumberText(int64_t number) { return WithoutMinus(std::to_string(number)); }

// The shortest text that reads back as the same number.
std::string NumberText(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  return WithoutMinus(std::string(buffer, end.ptr));
}

}  // namespace

std::string IdText(const Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_arithmetic_v<T>) {
          return NumberText(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return Join(v, "x");
        } else {
          std::vector<std::string> parts;
          for (const int64_t number : v) parts.push_back(NumberText(number));
          return Join(parts, "x");
        }
      },
      value);
}

bool IsIdText(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '+';
  });
}

}  // namespace cudnn_ci
