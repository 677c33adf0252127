// The promises of a matrix: ranges of versions, and lists of cards.
#include "model/matrix/matrix_contract.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

using Problems = std::vector<Problem>;

void ReadPatterns(const std::string& key, ObjectReader* reader, std::vector<std::string>* out) {
  reader->Strings(key, [&](const std::string& text, const Position& position) {
    reader->Limit(Quote(key), text, position, kMaxTextCharacters);
    if (text.empty()) reader->Report(position, Quote(key) + " has an empty pattern");
    out->push_back(text);
  });
}

// A list of compute capabilities as a range: "8.0 or 8.9". Empty: it is none, which is reported.
std::string ReadCapabilities(const std::string& key, const Json::Array& list, const Position& position,
                             ObjectReader* reader) {
  constexpr size_t kMostCards = 24;
  std::vector<std::string> all;
  bool good = !list.empty() && list.size() <= kMostCards;
  for (const Json& item : list) {
    const auto* text = std::get_if<std::string>(&item.value);
    const std::optional<Version> version = text == nullptr ? std::nullopt : ParseVersion(*text);
    good = good && version && version->parts.size() == 2 &&
           std::find(all.begin(), all.end(), *text) == all.end();
    if (good) all.push_back(*text);
  }
  if (good) return Join(all, " or ");
  reader->Report(position, Quote(key) + " must list 1 to " + std::to_string(kMostCards) +
                               " different compute capabilities such as [\"8.0\", \"9.0\"]");
  return {};
}

}  // namespace

void ReadContract(const std::string& side, const std::vector<std::string>& keys, ObjectReader* top,
                  Matrix* matrix, Problems* problems) {
  const Json::Object* object = top->Object(side);
  if (object == nullptr) return;
  ObjectReader reader(*object, {}, Quote(side), problems);
  for (const std::string& key : keys) {
    const Json* json = reader.Get(key);
    if (json == nullptr) continue;
    const std::string full = side + "." + key;
    const auto* text = std::get_if<std::string>(&json->value);
    const auto* list = std::get_if<Json::Array>(&json->value);
    if (list != nullptr && full == "runner.compute_capability") {
      const std::string listed = ReadCapabilities(full, *list, json->position, &reader);
      if (listed.empty()) continue;
      matrix->contract[full] = listed;
      matrix->contract_positions[full] = json->position;
      continue;
    }
    if (text == nullptr) {
      reader.WrongType(full, "a range such as \">=12.0 <13\"", *json);
      continue;
    }
    reader.Limit(Quote(full), *text, json->position, kMaxNameCharacters);
    std::string reason;
    const std::optional<VersionRange> range = ParseRange(*text, &reason);
    if (*text == "absent" && side == "runner") {
      reader.Report(json->position,
                    Quote(full) + " cannot be \"absent\"; only a promise about an image can be");
    } else if (range && !range->any_of.empty()) {
      reader.Report(json->position, Quote(full) + " is not a range: it has \"or\"");
    } else if (*text != "absent" && !range) {
      reader.Report(json->position, Quote(full) + " is not a range: " + reason);
    } else if (range && !IsSatisfiable(*range)) {
      reader.Report(json->position, Quote(full) + " is a range that no version satisfies: " + Quote(*text));
    } else {
      // What is shown, and what checks get, has the bounds of a bare version.
      matrix->contract[full] = InBounds(*text);
      matrix->contract_positions[full] = json->position;
    }
  }
  if (side == "image") {
    ReadPatterns("allow_preload", &reader, &matrix->allowed_preloads);
    ReadPatterns("allow_driver_library", &reader, &matrix->allowed_driver_libraries);
  }
  reader.Finish();
}

}  // namespace cudnn_ci
