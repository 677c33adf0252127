// Records as JSON, field by field as record_fields.h lists them: what the journal and report.json are made
// of.
#ifndef CUDNN_CI_REPORT_RECORD_RECORD_WRITER_H_
#define CUDNN_CI_REPORT_RECORD_RECORD_WRITER_H_

#include <map>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/record/record_fields.h"
#include "report/text/json_text.h"

namespace cudnn_ci {

// What becomes of a field whose text or list is empty.
enum class EmptyFields {
  kLeftOut,  // a line of the journal: empty is what its reader starts from
  kShown     // report.json: null where the list says OrNull, left out where it says Optional, else as it is
};

class RecordWriter {
 public:
  // Writes into the object that is open in *out, which must outlive the writer.
  RecordWriter(JsonText* out, EmptyFields empty) : out_(out), empty_(empty) {}

  // In report.json a record lies within the case that it is about.
  void Ref(const CaseRef& ref) {
    if (empty_ == EmptyFields::kLeftOut) (*this)("id", ref.id), (*this)("device", ref.device);
  }
  void CaseName(const char* key, const CaseRef& ref) { (*this)(key, DisplayId(ref)); }
  template <class T>
  void operator()(const char* key, const T& value) {
    if (empty_ == EmptyFields::kLeftOut && IsEmpty(value)) return;
    out_->Key(key);
    Write(value);
  }
  void OrNull(const char* key, const std::string& value) {
    if (empty_ == EmptyFields::kShown && value.empty()) {
      out_->Key(key).Null();
    } else {
      (*this)(key, value);
    }
  }
  // An enumerator is empty where it is the first one.
  template <class T>
  void Optional(const char* key, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      if (value != T()) (*this)(key, value);
    } else {
      if (!IsEmpty(value)) (*this)(key, value);
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
  void Write(const std::string& v) { out_->String(v); }
  void Write(bool v) { out_->Bool(v); }
  void Write(int v) { out_->Int(v); }
  void Write(int64_t v) { out_->Int(v); }
  void Write(double v) { out_->Double(v); }
  void Write(const Value& v) {
    const auto* strings = std::get_if<std::vector<std::string>>(&v);
    if (!strings || !strings->empty()) {
      out_->Param(v);
    } else {
      out_->BeginObject().Key("strings").Strings({}).EndObject();  // [] is a list of integers
    }
  }
  void Write(const Outcome& v) {
    out_->BeginObject().Key("is").String(Name(v));
    std::visit([this](const auto& o) { journal::Fields(*this, o); }, v);
    out_->EndObject();
  }
  template <class T>
  void Write(const std::vector<T>& v) {
    out_->BeginArray();
    for (const T& element : v) Write(element);
    out_->EndArray();
  }
  template <class T>
  void Write(const std::map<std::string, T>& v) {
    out_->BeginObject();
    for (const auto& [key, value] : v) {
      out_->Key(key);
      Write(value);
    }
    out_->EndObject();
  }
  template <class T>
  void Write(const T& v) {
    if constexpr (std::is_enum_v<T>) {
      out_->String(Name(v));
    } else {
      out_->BeginCompactObject();
      journal::Fields(*this, v);
      out_->EndObject();
    }
  }

  JsonText* out_;
  EmptyFields empty_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_RECORD_WRITER_H_
