// Records from JSON, field by field as record_fields.h lists them: how the journal and report.json are read.
#ifndef CUDNN_CI_REPORT_RECORD_RECORD_READER_H_
#define CUDNN_CI_REPORT_RECORD_RECORD_READER_H_

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "model/json/value_json.h"
#include "model/record/record_fields.h"

namespace cudnn_ci {

// What is wrong with a record.
struct DecodeError {
  std::string message;
};

// Makes *outcome the alternative of that name; false where there is none.
template <size_t I = 0>
bool ChooseOutcome(const std::string& name, Outcome* outcome) {
  if constexpr (I < std::variant_size_v<Outcome>) {
    if (name != Name(Outcome(std::in_place_index<I>))) return ChooseOutcome<I + 1>(name, outcome);
    outcome->emplace<I>();
    return true;
  }
  return false;
}

// A field that is not there keeps its value; one of another type, an enumerator that this version does not
// know and a number out of range are refused. Throws DecodeError, which names the field. `Node` is
// nlohmann::json, whose header the users include themselves. Texts come as they are: an Event cleans them.
template <class Node>
class RecordReader {
 public:
  // Reads from the object, which must outlive the reader. `where`: what messages call it.
  RecordReader(const Node& object, std::string where) : object_(object), where_(std::move(where)) {}

  void Ref(CaseRef& ref) { (*this)("id", ref.id), OrNull("device", ref.device); }
  void CaseName(const char* key, CaseRef& ref) {
    std::string text;
    OrNull(key, text);
    ref = ParseDisplayId(text);
  }
  template <class T>
  void operator()(const char* key, T& value) {
    const auto place = object_.find(key);
    if (place != object_.end()) Read(*place, where_ + "." + key, value);
  }
  template <class T>
  void OrNull(const char* key, T& value) {
    const auto place = object_.find(key);
    if (place != object_.end() && !place->is_null()) (*this)(key, value);
  }
  template <class T>
  void Optional(const char* key, T& value) {
    OrNull(key, value);
  }
  [[noreturn]] void Refuse(const char* key, const char* why) const {
    throw DecodeError{where_ + "." + key + ": " + why};
  }

 private:
  [[noreturn]] static void Fail(const Node& node, const std::string& where, const char* wanted) {
    throw DecodeError{where + ": expected " + wanted + ", found " + node.type_name()};
  }
  static void Read(const Node& node, const std::string& where, std::string& v) {
    if (!node.is_string()) Fail(node, where, "a string");
    v = node.template get_ref<const std::string&>();
  }
  static void Read(const Node& node, const std::string& where, bool& v) {
    if (!node.is_boolean()) Fail(node, where, "true or false");
    v = node.template get<bool>();
  }
  static void Read(const Node& node, const std::string& where, int64_t& v) {
    const bool fits =
        node.is_number_integer() &&
        (!node.is_number_unsigned() || node.template get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
    if (!fits) Fail(node, where, "an integer");
    v = node.template get<int64_t>();
  }
  static void Read(const Node& node, const std::string& where, int& v) {
    int64_t wide = 0;
    Read(node, where, wide);
    if (wide < INT32_MIN || wide > INT32_MAX) Fail(node, where, "an integer of 32 bits");
    v = static_cast<int>(wide);
  }
  static void Read(const Node& node, const std::string& where, double& v) {
    if (node.is_number()) {
      v = node.template get<double>();
    } else if (node == "nan") {
      v = std::nan("");
    } else if (node == "inf" || node == "-inf") {
      v = node == "inf" ? HUGE_VAL : -HUGE_VAL;
    } else {
      Fail(node, where, "a number");
    }
  }
  static void Read(const Node& node, const std::string& where, Value& v) {
    if (!FromJson(node, &v)) Fail(node, where, "the value of a parameter");
  }
  static void Read(const Node& node, const std::string& where, Outcome& v) {
    std::string is;
    if (!node.is_object()) Fail(node, where, "an object");
    RecordReader io(node, where);
    io("is", is);
    if (!ChooseOutcome(is, &v)) throw DecodeError{where + ": unknown outcome \"" + CleanLine(is, 60) + "\""};
    std::visit([&io](auto& o) { journal::Fields(io, o); }, v);
  }
  // A flag of a newer writer is a mark we do not know; it changes no outcome.
  static void Read(const Node& node, const std::string& where, std::vector<Flag>& v) {
    std::vector<std::string> names;
    Read(node, where, names);
    for (const std::string& flag_name : names) {
      Flag flag;
      if (Parse(flag_name, &flag)) v.push_back(flag);
    }
  }
  template <class T>
  static void Read(const Node& node, const std::string& where, std::vector<T>& v) {
    if (!node.is_array()) Fail(node, where, "an array");
    v.clear();
    for (const Node& element : node) Read(element, where + "[]", v.emplace_back());
  }
  template <class T>
  static void Read(const Node& node, const std::string& where, std::map<std::string, T>& v) {
    if (!node.is_object()) Fail(node, where, "an object");
    for (const auto& [key, value] : node.items()) Read(value, where + "." + CleanLine(key, 60), v[key]);
  }
  template <class T>
  static void Read(const Node& node, const std::string& where, T& v) {
    if constexpr (std::is_enum_v<T>) {
      std::string text;
      Read(node, where, text);
      if (!Parse(text, &v)) throw DecodeError{where + ": unknown value \"" + CleanLine(text, 60) + "\""};
    } else {
      if (!node.is_object()) Fail(node, where, "an object");
      RecordReader io(node, where);
      journal::Fields(io, v);
    }
  }

  const Node& object_;
  std::string where_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_RECORD_READER_H_
