// junit.xml as a text, for the tests of its content.
#ifndef CUDNN_CI_TESTS_UNIT_JUNIT_TEXT_H_
#define CUDNN_CI_TESTS_UNIT_JUNIT_TEXT_H_

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "report/formats/junit_document.h"

namespace cudnn_ci {

// All files of the run, one behind the other.
inline std::string Render(const Summary& summary, bool strict = false, bool final = true) {
  JunitOptions options;
  options.strict = strict;
  std::string text;
  EXPECT_TRUE(RenderJunit(summary, options, final, [&](size_t, const std::string& document) {
                text += document;
                return Status();
              }).ok());
  return text;
}

inline size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

// Of each suite and of the root, with the elements.
inline void ExpectCountersMatch(const std::string& text) {
  std::smatch root;
  const std::regex counters("<testsuites [^>]*tests=\"(\\d+)\" failures=\"(\\d+)\" errors=\"(\\d+)\"");
  ASSERT_TRUE(std::regex_search(text, root, counters));
  EXPECT_EQ(CountOf(text, "<testcase "), std::stoul(root[1]));
  EXPECT_EQ(CountOf(text, "<failure "), std::stoul(root[2]));
  EXPECT_EQ(CountOf(text, "<error "), std::stoul(root[3]));
  size_t tests = 0, skipped = 0;
  const std::regex suite("<testsuite [^>]*tests=\"(\\d+)\"[^>]*skipped=\"(\\d+)\"");
  for (std::sregex_iterator at(text.begin(), text.end(), suite), end; at != end; ++at) {
    tests += std::stoul((*at)[1]);
    skipped += std::stoul((*at)[2]);
  }
  EXPECT_EQ(CountOf(text, "<testcase "), tests);
  EXPECT_EQ(CountOf(text, "<skipped "), skipped);
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_JUNIT_TEXT_H_
