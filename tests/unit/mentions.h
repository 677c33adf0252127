// What a message names: the arguments that show its cause. Its sentence is held by a golden alone
// (tests/golden/messages).
#ifndef CUDNN_CI_TESTS_MENTIONS_H_
#define CUDNN_CI_TESTS_MENTIONS_H_

#include <gmock/gmock.h>

#include <cctype>
#include <string>
#include <vector>

namespace cudnn_ci {

// Whether `argument` stands in `text` as a whole: "9.1" is not in "9.19.0", nor "9.19.0" in "9.19.0.56", nor
// "gemm" in "implicit_gemm". An end that is no letter, digit or "_" matches whatever is beside it.
inline bool StandsIn(const std::string& argument, const std::string& text) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  const auto digit = [&text](size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
  };
  for (size_t at = text.find(argument); at != std::string::npos; at = text.find(argument, at + 1)) {
    const size_t end = at + argument.size();
    if (at > 0 && word(argument.front()) && word(text[at - 1])) continue;
    if (at > 1 && digit(at) && text[at - 1] == '.' && digit(at - 2)) continue;
    if (end < text.size() && word(argument.back()) && word(text[end])) continue;
    if (digit(end - 1) && end < text.size() && text[end] == '.' && digit(end + 1)) continue;
    return true;
  }
  return false;
}

MATCHER_P(MentionsArgument, argument, std::string(negation ? "does not mention " : "mentions ") + argument) {
  return StandsIn(argument, arg);
}

// A text that mentions each of these, in whatever order: EXPECT_THAT(r.Detail(), Mentions("gemm", "9.19.0")).
template <typename... Arguments>
auto Mentions(const Arguments&... arguments) {
  return ::testing::AllOf(MentionsArgument(std::string(arguments))...);
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_MENTIONS_H_
