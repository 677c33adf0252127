// Structs from JSON, field by field as they list them (base/fields.h): how packets, the journal and
// report.json are read.
#ifndef CUDNN_CI_MODEL_RECORD_FIELD_READER_H_
#define CUDNN_CI_MODEL_RECORD_FIELD_READER_H_

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/text.h"
#include "model/json/value_json.h"
#include "model/record/event.h"

namespace cudnn_ci {

// What is wrong with what was read. It names the field.
struct DecodeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where a value stands: its key, or "[]" in a list, in another. A view.
struct FieldPlace {
  const FieldPlace* outer;
  std::string_view key;
};

// Throw a DecodeError.
[[noreturn]] void RefuseField(const FieldPlace& place, const char* why);
[[noreturn]] void RefuseType(const FieldPlace& place, const char* wanted, const char* found);
[[noreturn]] void RefuseName(const FieldPlace& place, const char* what, const std::string& name);

// Reads fields from an object. A value of another type, an enumerator that this version does not know, a
// number out of range and structs nested too deep are refused: DecodeError. Unknown fields are passed over.
// `Node` is nlohmann::json, whose header the users include themselves. `Rules` has
//   kStrict       a field that is missing or null is refused; without it such a field keeps its value
//   cleans        texts are cleaned as they are read; those of a record are cleaned by Event
//   LastOf(T())   enumerators of T are numbers, this one the last; all others go by Name and Parse
template <class Node, class Rules>
class FieldReader {
 public:
  // Reads from the object, which must outlive the reader. `where`: what errors call it.
  FieldReader(const Node& object, std::string where, Rules rules = {})
      : object_(object), name_(std::move(where)), place_{nullptr, name_}, rules_(rules) {}
  FieldReader(const FieldReader&) = delete;
  FieldReader& operator=(const FieldReader&) = delete;

  void Ref(CaseRef& ref) { (*this)("id", ref.id), (*this)("device", ref.device, Mark::kOrNull); }
  template <class T>
  void operator()(const char* key, T& value, Mark mark = Mark::kPlain) {
    const auto found = object_.find(key);
    const bool may_lack = mark == Mark::kOptional || requires { value.has_value(); };
    if (found == object_.end()) {
      if (Rules::kStrict && !may_lack) Refuse(key, "is missing");
    } else if (Rules::kStrict || !found->is_null() || (mark != Mark::kOptional && mark != Mark::kOrNull)) {
      Read(*found, FieldPlace{&place_, key}, value, mark);
    }
  }
  [[noreturn]] void Refuse(const char* key, const char* why) const {
    RefuseField(FieldPlace{&place_, key}, why);
  }
  // There is no `what` of that name.
  [[noreturn]] void RefuseName(const char* what, const std::string& name) const {
    cudnn_ci::RefuseName(place_, what, name);
  }

 private:
  static constexpr int kMostDepth = 3;  // a field of a parameter of a check of a message

  // Of a struct that lies in another.
  FieldReader(const Node& object, const FieldPlace& place, Rules rules, int depth)
      : object_(object), place_(place), rules_(rules), depth_(depth) {}

  [[noreturn]] static void Fail(const Node& node, const FieldPlace& place, const char* wanted) {
    RefuseType(place, wanted, node.type_name());
  }
  void Read(const Node& node, const FieldPlace& place, std::string& v, Mark mark) const {
    if (!node.is_string()) Fail(node, place, "a string");
    v = node.template get_ref<const std::string&>();
    if (rules_.cleans && mark != Mark::kExact) CleanInPlace(&v);
  }
  void Read(const Node& node, const FieldPlace& place, bool& v, Mark) const {
    if (!node.is_boolean()) Fail(node, place, "true or false");
    v = node.template get<bool>();
  }
  void Read(const Node& node, const FieldPlace& place, double& v, Mark) const {
    if (node.is_number()) {
      v = node.template get<double>();
    } else if (node == "nan") {
      v = std::nan("");
    } else if (node == "inf" || node == "-inf") {
      v = node == "inf" ? HUGE_VAL : -HUGE_VAL;
    } else {
      Fail(node, place, "a number");
    }
  }
  void Read(const Node& node, const FieldPlace& place, Value& v, Mark) const {
    if (!FromJson(node, &v)) Fail(node, place, "the value of a parameter");
  }
  void Read(const Node& node, const FieldPlace& place, CaseRef& v, Mark mark) const {
    std::string text;
    Read(node, place, text, mark);
    v = ParseDisplayId(text);
  }
  // A flag of a newer writer is a mark we do not know; it changes no outcome.
  void Read(const Node& node, const FieldPlace& place, std::vector<Flag>& v, Mark mark) const {
    std::vector<std::string> names;
    Read(node, place, names, mark);
    for (const std::string& flag_name : names) {
      Flag flag;
      if (Parse(flag_name, &flag)) v.push_back(flag);
    }
  }
  template <class T>
  void Read(const Node& node, const FieldPlace& place, std::optional<T>& v, Mark mark) const {
    Read(node, place, v.emplace(), mark);
  }
  template <class T>
  void Read(const Node& node, const FieldPlace& place, std::vector<T>& v, Mark mark) const {
    if (!node.is_array()) Fail(node, place, "an array");
    v.clear();
    for (const Node& element : node) Read(element, FieldPlace{&place, "[]"}, v.emplace_back(), mark);
  }
  template <class T>
  void Read(const Node& node, const FieldPlace& place, std::map<std::string, T>& v, Mark mark) const {
    if (!node.is_object()) Fail(node, place, "an object");
    for (const auto& [key, value] : node.items()) Read(value, FieldPlace{&place, key}, v[key], mark);
  }
  template <class T>
  void Read(const Node& node, const FieldPlace& place, T& v, Mark) const {
    if constexpr (std::is_integral_v<T>) {
      v = Integer<T>(node, place);
    } else if constexpr (std::is_enum_v<T>) {
      v = Enumerator<T>(node, place);
    } else {
      if (!node.is_object()) Fail(node, place, "an object");
      if (depth_ == kMostDepth) RefuseField(place, "lies too deep");
      FieldReader io(node, place, rules_, depth_ + 1);
      Fields(io, v);
    }
  }
  template <class T>
  static T Integer(const Node& node, const FieldPlace& place) {
    const bool fits = node.is_number_integer() &&
                      (node.is_number_unsigned() ? std::in_range<T>(node.template get<uint64_t>())
                                                 : std::in_range<T>(node.template get<int64_t>()));
    if (!fits) Fail(node, place, sizeof(T) == sizeof(int64_t) ? "an integer" : "an integer of 32 bits");
    return node.template get<T>();
  }
  template <class T>
  T Enumerator(const Node& node, const FieldPlace& place) const {
    if constexpr (requires { Rules::LastOf(T()); }) {
      const int number = Integer<int>(node, place);
      if (number < 0 || number > static_cast<int>(Rules::LastOf(T()))) RefuseField(place, "is out of range");
      return static_cast<T>(number);
    } else {
      std::string text;
      T value{};
      Read(node, place, text, Mark::kPlain);
      if (!Parse(text, &value)) cudnn_ci::RefuseName(place, "value", text);
      return value;
    }
  }

  const Node& object_;
  const std::string name_;  // of the outermost place
  const FieldPlace place_;
  const Rules rules_;
  const int depth_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_FIELD_READER_H_
