// Many words in one pass: what is found, and the work that it takes.
#include "base/word_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci {
namespace {

using Found = std::vector<std::pair<size_t, size_t>>;  // end, and bytes of the longest word that ends there

Found Scanned(const std::vector<std::string>& words, const std::string& text) {
  Found found;
  WordFinder({words.begin(), words.end()}).Scan(text, [&](size_t end, size_t word) {
    found.emplace_back(end, words[word].size());
  });
  return found;
}

Found Searched(const std::vector<std::string>& words, const std::string& text) {
  Found found;
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& word : words)
      if (word.size() <= end && text.compare(end - word.size(), word.size(), word) == 0)
        longest = std::max(longest, word.size());
    if (longest > 0) found.emplace_back(end, longest);
  }
  return found;
}

TEST(WordFinder, FindsWhatASearchAtEachPlaceFinds) {
  std::mt19937 random(7);
  const auto draw = [&](size_t most) {
    std::string text(random() % most, ' ');
    for (char& c : text) c = static_cast<char>('a' + random() % 2);
    return text;
  };
  for (int i = 0; i < 500; ++i) {
    std::vector<std::string> words(random() % 8);
    for (std::string& word : words) word = draw(9);
    const std::string text = draw(60);
    EXPECT_EQ(Scanned(words, text), Searched(words, text)) << text;
  }
  EXPECT_EQ(Scanned({"\xFF\x80", std::string("\0b", 2)}, std::string("\xFF\x80\0b", 4)),
            (Found{{2, 2}, {4, 2}}));
}

TEST(WordFinder, TellsTheLongestBeginningAtTheEnd) {
  const std::string word = "abcabcd";
  const WordFinder finder({word});
  EXPECT_EQ(finder.BeginningAtEnd("xxabcabc"), 6u);
  EXPECT_EQ(finder.BeginningAtEnd("abcabcabc"), 6u);
  EXPECT_EQ(finder.BeginningAtEnd("abcabcd"), 7u);
  EXPECT_EQ(finder.BeginningAtEnd("abcx"), 0u);
  EXPECT_EQ(WordFinder().BeginningAtEnd("abc"), 0u);
}

// By comparison at each place these would take as many steps as the word has bytes, for each byte of the
// text.
TEST(WordFinder, TakesAFewStepsForEachByteOfAnyText) {
  const std::string many(100'000, 'a');
  const std::string ab = [] {
    std::string text;
    while (text.size() < 100'000) text += "ab";
    return text;
  }();
  const auto none = [](size_t, size_t) {};
  for (const std::string& word : {many + "b", "b" + many, many + "b" + many, ab + "c", many})
    for (const std::string& text : {many + many, ab + ab, many + "b" + many}) {
      EXPECT_LE(WordFinder({word}).Scan(text, none), 4 * text.size());
    }
}

}  // namespace
}  // namespace cudnn_ci
