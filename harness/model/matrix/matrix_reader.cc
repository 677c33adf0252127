#include "model/matrix/matrix_reader.h"

#include <algorithm>
#include <optional>

namespace cudnn_ci {
namespace {

std::optional<double> NumberOf(const Json& json) {
  if (const auto* integer = std::get_if<int64_t>(&json.value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&json.value)) return *number;
  return std::nullopt;
}

}  // namespace

const Json* ObjectReader::Get(const std::string& key) {
  asked_.push_back(key);
  return Find(object_, key);
}

const Json* ObjectReader::Require(const std::string& key, const std::string& remedy) {
  const Json* json = Get(key);
  if (json == nullptr) Report(position_, Quote(key) + " is missing in " + where_ + "; " + remedy);
  return json;
}

void ObjectReader::Limit(const std::string& what, const std::string& text, const Position& position,
                         size_t max_characters) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  if (static_cast<size_t>(std::count_if(text.begin(), text.end(), begins)) <= max_characters) return;
  Report(position, what + " is longer than " + std::to_string(max_characters) + " characters");
}

void ObjectReader::String(const std::string& key, std::string* out, size_t max_characters) {
  const Json* json = Get(key);
  if (json == nullptr) return;
  const auto* text = std::get_if<std::string>(&json->value);
  if (text == nullptr || text->empty()) return WrongType(key, "a string that is not empty", *json);
  Limit(Quote(key), *text, json->position, max_characters);
  *out = *text;
}

void ObjectReader::RequiredString(const std::string& key, const std::string& remedy, std::string* out,
                                  size_t max_characters) {
  if (Require(key, remedy) != nullptr) String(key, out, max_characters);
}

const Json::Object* ObjectReader::Object(const std::string& key) {
  const Json* json = Get(key);
  if (json == nullptr) return nullptr;
  const auto* object = std::get_if<Json::Object>(&json->value);
  if (object == nullptr) WrongType(key, "an object", *json);
  return object;
}

const Json::Array* ObjectReader::List(const std::string& key) {
  const Json* json = Get(key);
  if (json == nullptr) return nullptr;
  const auto* list = std::get_if<Json::Array>(&json->value);
  if (list == nullptr) WrongType(key, "a list", *json);
  return list;
}

void ObjectReader::Strings(const std::string& key,
                           const std::function<void(const std::string&, const Position&)>& each) {
  const Json::Array* list = List(key);
  if (list == nullptr) return;
  for (const Json& item : *list) {
    if (const auto* text = std::get_if<std::string>(&item.value)) {
      each(*text, item.position);
    } else {
      Report(item.position, Quote(key) + " must be a list of strings, found " + Describe(item) + " in it");
    }
  }
}

bool ObjectReader::ReadTimeout(const std::string& key, const Json& json, double* out) {
  // No process starts in less than the shortest: whatever runs would be to blame for that.
  constexpr double kShortest = 0.1, kWeek = 7 * 24 * 3600;
  const double seconds = NumberOf(json).value_or(0);
  if (!(seconds >= kShortest && seconds <= kWeek)) {
    WrongType(key, "a number of seconds from 0.1 to 604800 (a week)", json);
    return false;
  }
  *out = seconds;
  return true;
}

bool ObjectReader::ReadPercent(const std::string& key, const Json& json, double* out) {
  const double percent = NumberOf(json).value_or(-1);
  if (!(percent >= 0 && percent <= 1000)) {
    WrongType(key, "a number from 0 (never) to 1000", json);
    return false;
  }
  *out = percent;
  return true;
}

void ObjectReader::WrongType(const std::string& key, const std::string& expected, const Json& found) {
  Report(found.position, Quote(key) + " must be " + expected + ", found " + Describe(found));
}

void ObjectReader::Report(const Position& position, std::string message) {
  AddProblem(problems_, position, std::move(message));
}

void ObjectReader::Finish(const std::map<std::string, std::string>& remedies) {
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  for (const Json::Member& member : object_) {
    if (std::binary_search(asked_.begin(), asked_.end(), member.key)) continue;
    const auto remedy = remedies.find(member.key);
    const std::string hint = remedy == remedies.end() ? Hint(member.key, asked_) : "; " + remedy->second;
    Report(member.position, "unknown key " + Quote(member.key) + " in " + where_ + hint);
  }
}

bool IsDate(const std::string& text) {
  constexpr char kForm[] = "dddd-dd-dd";
  if (text.size() != sizeof kForm - 1) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != kForm[i]) return false;
  }
  const int year = std::stoi(text.substr(0, 4)), month = std::stoi(text.substr(5, 2));
  const int day = std::stoi(text.substr(8, 2));
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

}  // namespace cudnn_ci
