// Reading typed fields of JSON objects, with every problem reported at its place. Private to model.
#ifndef CUDNN_CI_MODEL_MATRIX_MATRIX_READER_H_
#define CUDNN_CI_MODEL_MATRIX_MATRIX_READER_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/json/json_tree.h"
#include "model/matrix/matrix_format.h"

namespace cudnn_ci {

// Reads one object. Keys that were not asked for are unknown: Finish reports them.
class ObjectReader {
 public:
  // `where` completes "unknown key ... in": "an entry of \"checks\"".
  ObjectReader(const Json::Object& object, Position position, std::string where,
               std::vector<Problem>* problems)
      : object_(object), position_(std::move(position)), where_(std::move(where)), problems_(problems) {}

  const Json* Get(const std::string& key);
  // Like Get; a missing key is a problem.
  const Json* Require(const std::string& key, const std::string& remedy);

  // These leave *out alone and report when the value is of another type.
  void String(const std::string& key, std::string* out, size_t max_characters = kMaxNameCharacters);
  void RequiredString(const std::string& key, const std::string& remedy, std::string* out,
                      size_t max_characters = kMaxNameCharacters);
  // Reports a text of more characters than that; `what` begins the message.
  void Limit(const std::string& what, const std::string& text, const Position& position,
             size_t max_characters);
  template <class T>
  void Bool(const std::string& key, T* out) {
    const Json* json = Get(key);
    if (json == nullptr) return;
    if (const bool* value = std::get_if<bool>(&json->value)) {
      *out = *value;
    } else {
      WrongType(key, "true or false", *json);
    }
  }
  // Seconds, more than 0 and at most a week.
  template <class T>
  void Timeout(const std::string& key, T* out) {
    double seconds = 0;
    if (const Json* json = Get(key); json != nullptr && ReadTimeout(key, *json, &seconds)) *out = seconds;
  }
  // A number from 0 to 1000.
  template <class T>
  void Percent(const std::string& key, T* out) {
    double percent = 0;
    if (const Json* json = Get(key); json != nullptr && ReadPercent(key, *json, &percent)) *out = percent;
  }
  const Json::Object* Object(const std::string& key);
  const Json::Array* List(const std::string& key);
  // A list of strings; `each` gets every one with its position.
  void Strings(const std::string& key, const std::function<void(const std::string&, const Position&)>& each);

  void WrongType(const std::string& key, const std::string& expected, const Json& found);
  void Report(const Position& position, std::string message);
  // Reports the keys that were not asked for; `remedies` says what to write instead of some of them.
  void Finish(const std::map<std::string, std::string>& remedies = {});

 private:
  bool ReadTimeout(const std::string& key, const Json& json, double* out);
  bool ReadPercent(const std::string& key, const Json& json, double* out);

  const Json::Object& object_;
  Position position_;
  std::string where_;
  std::vector<Problem>* problems_;
  std::vector<std::string> asked_;
};

// "2027-03-31": a day of the Gregorian calendar.
bool IsDate(const std::string& text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_MATRIX_READER_H_
