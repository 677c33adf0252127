#include "base/word_finder.h"

namespace cudnn_ci {

WordFinder::WordFinder(const std::vector<std::string_view>& words) : nodes_(1) {
  first_.fill(-1);
  for (size_t i = 0; i < words.size(); ++i) {
    int32_t node = 0;
    for (const char byte : words[i]) node = Add(node, byte);
    if (node != 0 && nodes_[static_cast<size_t>(node)].word < 0)
      nodes_[static_cast<size_t>(node)].word = static_cast<int32_t>(i);
  }
  Link();
}

int32_t WordFinder::Add(int32_t node, char byte) {
  uint64_t ignored = 0;
  if (const int32_t known = Longer(node, byte, &ignored); known >= 0) return known;
  const auto added = static_cast<int32_t>(nodes_.size());
  Node next;
  next.byte = byte;
  next.depth = nodes_[static_cast<size_t>(node)].depth + 1;
  if (node == 0) first_[static_cast<unsigned char>(byte)] = added;
  next.sibling = nodes_[static_cast<size_t>(node)].child;
  nodes_[static_cast<size_t>(node)].child = added;
  nodes_.push_back(next);
  return added;
}

int32_t WordFinder::Longer(int32_t node, char byte, uint64_t* steps) const {
  ++*steps;
  if (node == 0) return first_[static_cast<unsigned char>(byte)];
  int32_t child = nodes_[static_cast<size_t>(node)].child;
  for (; child >= 0 && nodes_[static_cast<size_t>(child)].byte != byte; ++*steps)
    child = nodes_[static_cast<size_t>(child)].sibling;
  return child;
}

int32_t WordFinder::Next(int32_t node, char byte, uint64_t* steps) const {
  for (;;) {
    if (const int32_t longer = Longer(node, byte, steps); longer >= 0) return longer;
    if (node == 0) return 0;
    node = nodes_[static_cast<size_t>(node)].shorter;
  }
}

// By length, so that what is shorter is known.
void WordFinder::Link() {
  uint64_t ignored = 0;
  std::vector<int32_t> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {
    const int32_t node = order[i];
    for (int32_t child = nodes_[static_cast<size_t>(node)].child; child >= 0;
         child = nodes_[static_cast<size_t>(child)].sibling) {
      Node& own = nodes_[static_cast<size_t>(child)];
      if (node != 0) own.shorter = Next(nodes_[static_cast<size_t>(node)].shorter, own.byte, &ignored);
      if (own.word < 0) own.word = nodes_[static_cast<size_t>(own.shorter)].word;
      order.push_back(child);
    }
  }
}

uint64_t WordFinder::Scan(std::string_view text,
                          const std::function<void(size_t end, size_t word)>& found) const {
  uint64_t steps = 0;
  int32_t node = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    node = Next(node, text[i], &steps);
    if (const int32_t word = nodes_[static_cast<size_t>(node)].word; word >= 0)
      found(i + 1, static_cast<size_t>(word));
  }
  return steps;
}

size_t WordFinder::BeginningAtEnd(std::string_view text) const {
  uint64_t ignored = 0;
  int32_t node = 0;
  for (const char byte : text) node = Next(node, byte, &ignored);
  return static_cast<size_t>(nodes_[static_cast<size_t>(node)].depth);
}

}  // namespace cudnn_ci
