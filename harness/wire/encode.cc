// Messages to packets. JSON is chosen because a crashed worker's last packet can be read by a person.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "model/json/value_json.h"
#include "wire/message_fields.h"

namespace cudnn_ci::wire {
namespace {

using nlohmann::json;

constexpr size_t kNoBound = std::string::npos;

// Any bytes as printable ASCII without quotes: the kernel's paths are no text.
std::string PercentEncode(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    if (NeedsNoEscape(c)) {
      text += c;
      continue;
    }
    char escaped[4];
    snprintf(escaped, sizeof escaped, "%%%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    text += escaped;
  }
  return text;
}

// Walks the fields of one record (message_fields.h) and adds each to a JSON object.
class Encoder {
 public:
  // Texts longer than `text_bound` are cut, head and tail kept.
  Encoder(json* object, size_t text_bound) : object_(object), text_bound_(text_bound) {}

  template <class T>
  void operator()(const char* key, const T& value) {
    (*object_)[key] = Json(value);
  }
  template <class T>
  void Whole(const char* key, const T& value) {
    const size_t bound = std::exchange(text_bound_, kNoBound);
    (*this)(key, value);
    text_bound_ = bound;
  }
  void Exact(const char* key, const std::string& value) { Whole(key, value); }
  void Place(const char* key, Where value) { (*object_)[key] = Name(value); }
  void Optional(const char* key, const std::optional<std::string>& value) {
    if (value) Whole(key, *value);
  }
  void Optional(const char* key, const std::string& value) {
    if (!value.empty()) (*this)(key, value);
  }
  void Optional(const char* key, bool value) {
    if (value) (*this)(key, value);
  }
  template <class T>
  void If(const char* key, bool present, const T& value) {
    if (present) (*this)(key, value);
  }
  template <class T>
  void AtMost(size_t most, const char* key, const std::vector<T>& list) {
    json& out = (*object_)[key] = json::array();
    for (size_t i = 0; i < list.size() && i < most; ++i) out.push_back(Json(list[i]));
  }
  void Hex(const char* key, uint64_t number) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, number);
    (*object_)[key] = text;
  }
  void Path(const char* key, const std::string& bytes) { (*object_)[key] = PercentEncode(bytes); }

 private:
  // What is no UTF-8 is shown as everywhere: by another word for it no secret in it would be recognized.
  json Json(const std::string& bytes) const {
    const std::string text = IsValidUtf8(bytes) ? bytes : CleanText(bytes);
    return text_bound_ == kNoBound ? text : HeadAndTail(text, text_bound_ / 4, text_bound_ - text_bound_ / 4);
  }
  // NaN and the infinities have no number in JSON.
  static json Json(double v) {
    if (std::isfinite(v)) return v;
    return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
  }
  static json Json(const Value& value) { return ToJson<json>(value); }
  template <class T>
  json Json(const std::vector<T>& list) const {
    json out = json::array();
    for (const T& element : list) out.push_back(Json(element));
    return out;
  }
  template <class T>
  json Json(const std::map<std::string, T>& map) const {
    json out = json::object();
    for (const auto& [key, value] : map) out[key] = Json(value);
    return out;
  }
  template <class T>
  json Json(const T& value) const {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<int>(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else {
      json object = json::object();
      Encoder io(&object, text_bound_);
      Fields(io, value);
      return object;
    }
  }

  json* object_;
  size_t text_bound_;
};

template <class Variant>
std::string Packet(const Variant& message, size_t text_bound) {
  json object;
  Encoder io(&object, text_bound);
  std::visit(
      [&](const auto& m) {
        object["m"] = m.kName;
        Fields(io, m);
      },
      message);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

// What the harness says is never cut: a parameter that is cut is another one.
std::string Encode(const ToWorker& message) { return Packet(message, kNoBound); }

// Escaping may make a text up to six times longer: the bound is lowered until the packet fits.
std::string Encode(const FromWorker& message) {
  size_t text_bound = kMaxText;
  std::string packet = Packet(message, text_bound);
  while (packet.size() > kMaxPacket && text_bound > 64) packet = Packet(message, text_bound /= 2);
  return packet;
}

}  // namespace cudnn_ci::wire
