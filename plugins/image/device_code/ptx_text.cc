#include "image/device_code/ptx_text.h"

#include <charconv>
#include <cstddef>

namespace cudnn_ci {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

// Where the next word outside comments begins, from `at` on; npos: there is none.
std::size_t NextWord(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (IsBlank(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = text.find('\n', at);
    } else if (text.substr(at, 2) == "/*") {
      at = text.find("*/", at + 2);
      if (at != std::string_view::npos) at += 2;
    } else {
      return at;
    }
  }
  return std::string_view::npos;
}

// The word behind a directive that begins a statement; empty: there is none.
std::string_view WordBehind(std::string_view text, std::string_view directive) {
  for (std::size_t at = NextWord(text, 0); at != std::string_view::npos;) {
    std::size_t end = at;
    while (end < text.size() && !IsBlank(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const std::size_t next = NextWord(text, end);
    if (word == directive && next != std::string_view::npos) {
      std::size_t stop = next;
      while (stop < text.size() && !IsBlank(text[stop]) && text[stop] != ',') ++stop;
      return text.substr(next, stop - next);
    }
    at = next;
  }
  return {};
}

// Reads a number at the beginning of `text` and takes it off. False: there is none, or it is absurd.
bool TakeNumber(std::string_view* text, int* number) {
  constexpr int kMost = 100000;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc() || *number < 0 || *number > kMost) return false;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return true;
}

}  // namespace

PtxHead ReadPtxHead(std::string_view text) {
  PtxHead head;
  std::string_view version = WordBehind(text, ".version"), target = WordBehind(text, ".target");
  if (!TakeNumber(&version, &head.major) || version.empty() || version[0] != '.') return head;
  version.remove_prefix(1);
  if (!TakeNumber(&version, &head.minor)) return head;
  if (target.substr(0, 3) != "sm_") return head;
  target.remove_prefix(3);
  if (!TakeNumber(&target, &head.architecture)) return head;
  if (target == "a") head.variant = CodeVariant::kArchitecture;
  if (target == "f") head.variant = CodeVariant::kFamily;
  head.found = true;
  return head;
}

bool PtxHoldsCode(std::string_view text) {
  return text.find(".entry") != std::string_view::npos || text.find(".func") != std::string_view::npos;
}

}  // namespace cudnn_ci
