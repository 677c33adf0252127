// All places of many words in a text, in one pass: Aho and Corasick's automaton. No word and no text, however
// they repeat themselves, takes more than a few steps for each byte.
#ifndef CUDNN_CI_BASE_WORD_FINDER_H_
#define CUDNN_CI_BASE_WORD_FINDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace cudnn_ci {

class WordFinder {
 public:
  // Words that are empty are in no text. Takes 24 bytes for each byte of the words, less where they begin
  // alike.
  explicit WordFinder(const std::vector<std::string_view>& words);
  // Finds nothing.
  WordFinder() : WordFinder(std::vector<std::string_view>()) {}

  // Calls `found` with the end of each place at which a word ends, and the number of the longest word that
  // ends there, in the text's order. Returns the steps that it took: nodes looked at.
  uint64_t Scan(std::string_view text, const std::function<void(size_t end, size_t word)>& found) const;
  // How many bytes at the text's end are the beginning of a word, or all of it; the most of them.
  size_t BeginningAtEnd(std::string_view text) const;

 private:
  struct Node {
    int32_t shorter = 0;               // the longest end of it that begins a word, too
    int32_t child = -1, sibling = -1;  // the first that is one byte longer, and the next of its kind
    int32_t word = -1;                 // the longest that ends here
    int32_t depth = 0;
    char byte = 0;
  };
  int32_t Add(int32_t node, char byte);
  // The node that is one byte longer; -1: none.
  int32_t Longer(int32_t node, char byte, uint64_t* steps) const;
  int32_t Next(int32_t node, char byte, uint64_t* steps) const;
  void Link();

  std::vector<Node> nodes_;
  std::array<int32_t, 256> first_;  // the children of the root, by byte
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_WORD_FINDER_H_
