// Structs as JSON, field by field as they list them (base/fields.h): what packets, the journal and
// report.json are made of.
#ifndef CUDNN_CI_MODEL_RECORD_FIELD_WRITER_H_
#define CUDNN_CI_MODEL_RECORD_FIELD_WRITER_H_

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "model/json/value.h"
#include "model/record/case_ref.h"

namespace cudnn_ci {

// Writes fields into the object that is open in a sink: JsonText, or what builds a packet. `Rules` has
//   empty             an EmptyFields
//   Text(text, mark)  the text as it is written
//   LastOf(T())       as for FieldReader
template <class Sink, class Rules>
class FieldWriter {
 public:
  // *out must outlive the writer.
  FieldWriter(Sink* out, Rules rules) : out_(out), rules_(rules) {}

  // In report.json a record lies within the case that it is about.
  void Ref(const CaseRef& ref) {
    if (rules_.empty == EmptyFields::kLeftOut) (*this)("id", ref.id), (*this)("device", ref.device);
  }
  template <class T>
  void operator()(const char* key, const T& value, Mark mark = Mark::kPlain) {
    const bool shown = rules_.empty == EmptyFields::kShown;
    if (mark == Mark::kOptional && IsNothing(value)) return;
    if (!shown && IsEmpty(value)) return;
    if constexpr (requires { value.has_value(); })
      if (!value) return;
    out_->Key(key);
    if (shown && mark == Mark::kOrNull && IsEmpty(value)) {
      out_->Null();
    } else {
      Write(value, mark);
    }
  }

 private:
  template <class T>
  static bool IsEmpty(const T& value) {
    if constexpr (requires { value.empty(); }) {
      return value.empty();
    } else {
      return false;
    }
  }
  template <class T>
  static bool IsNothing(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      return value == T();
    } else {
      return IsEmpty(value);
    }
  }
  void Write(const std::string& v, Mark mark) { out_->String(rules_.Text(v, mark)); }
  void Write(bool v, Mark) { out_->Bool(v); }
  void Write(double v, Mark) { out_->Double(v); }
  void Write(const CaseRef& v, Mark mark) { Write(DisplayId(v), mark); }
  void Write(const Value& v, Mark mark) {
    const auto* strings = std::get_if<std::vector<std::string>>(&v);
    if (!strings || !strings->empty()) return void(out_->Param(v));
    out_->BeginObject();  // [] is a list of integers
    out_->Key("strings");
    Write(*strings, mark);
    out_->EndObject();
  }
  template <class T>
  void Write(const std::optional<T>& v, Mark mark) {
    Write(*v, mark);
  }
  template <class T>
  void Write(const std::vector<T>& v, Mark mark) {
    out_->BeginArray();
    for (const T& element : v) Write(element, mark);
    out_->EndArray();
  }
  template <class T>
  void Write(const std::map<std::string, T>& v, Mark mark) {
    out_->BeginObject();
    for (const auto& [key, value] : v) {
      out_->Key(key);
      Write(value, mark);
    }
    out_->EndObject();
  }
  template <class T>
  void Write(const T& v, Mark) {
    if constexpr (std::is_integral_v<T>) {
      out_->Int(v);
    } else if constexpr (!std::is_enum_v<T>) {
      out_->BeginCompactObject();
      Fields(*this, v);
      out_->EndObject();
    } else if constexpr (requires { Rules::LastOf(v); }) {
      out_->Int(static_cast<int>(v));
    } else {
      out_->String(Name(v));
    }
  }

  Sink* out_;
  Rules rules_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_FIELD_WRITER_H_
