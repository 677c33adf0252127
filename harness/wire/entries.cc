#include "wire/entries.h"

#include <charconv>
#include <optional>
#include <utility>

namespace cudnn_ci::wire {
namespace {

void Put(const std::string& value, std::string* text) {
  *text += std::to_string(value.size());
  *text += ':';
  *text += value;
  *text += ',';
}

// Takes "2:ab," from the beginning; none: there is no such thing.
std::optional<std::string> Take(std::string_view* text) {
  size_t size = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), size);
  const auto digits = static_cast<size_t>(end - text->data());
  if (error != std::errc() || digits + 2 > text->size() || *end != ':') return std::nullopt;
  if (size > text->size() - digits - 2 || (*text)[digits + 1 + size] != ',') return std::nullopt;
  std::string value(text->substr(digits + 1, size));
  text->remove_prefix(digits + size + 2);
  return value;
}

}  // namespace

std::vector<std::string> PackEntries(const std::map<std::string, std::string>& entries, size_t most_bytes) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : entries) {
    std::string entry;
    Put(key, &entry);
    Put(value, &entry);
    if (texts.empty() || texts.back().size() + entry.size() > most_bytes) texts.emplace_back();
    texts.back() += entry;
  }
  return texts;
}

std::map<std::string, std::string> UnpackEntries(std::string_view text) {
  std::map<std::string, std::string> entries;
  while (!text.empty()) {
    std::optional<std::string> key = Take(&text);
    std::optional<std::string> value = key ? Take(&text) : std::nullopt;
    if (!value) break;
    entries.insert_or_assign(entries.end(), std::move(*key), std::move(*value));
  }
  return entries;
}

}  // namespace cudnn_ci::wire
