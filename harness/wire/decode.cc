// Packets to messages. Decoding trusts nothing: every field is checked for presence, type and range, and what
// a worker says in words is cleaned.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "model/json/value_json.h"
#include "wire/message_fields.h"

namespace cudnn_ci::wire {
namespace {

using nlohmann::json;

struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// All of `digits` as a hexadecimal number.
template <class Number>
bool ReadHex(std::string_view digits, Number* number) {
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, *number, 16);
  return read.ec == std::errc() && read.ptr == end;
}

// Walks the fields of one record (message_fields.h) and reads each from a JSON object. Throws Malformed.
class Decoder {
 public:
  // `cleans`: its texts. `depth`: how many records this one lies in.
  explicit Decoder(const json& object, bool cleans, int depth = 0)
      : object_(object), cleans_(cleans), depth_(depth) {}

  template <class T>
  void operator()(const char* key, T& value) {
    const auto place = object_.find(key);
    if (place == object_.end()) throw Malformed(std::string("field '") + key + "' is missing");
    key_ = key;
    Read(*place, value);
  }
  template <class T>
  void Whole(const char* key, T& value) {
    (*this)(key, value);
  }
  void Exact(const char* key, std::string& value) { Decoder(object_, false, depth_)(key, value); }
  void Place(const char* key, Where& value) {
    std::string name;
    (*this)(key, name);
    if (!Parse(name, &value)) Fail("is no place");
  }
  template <class T>
  void Optional(const char* key, T& value) {
    if (object_.contains(key)) (*this)(key, value);
  }
  template <class T>
  void If(const char* key, bool& present, T& value) {
    present = object_.contains(key);
    if (present) (*this)(key, value);
  }
  template <class T>
  void AtMost(size_t most, const char* key, std::vector<T>& list) {
    const auto place = object_.find(key);
    if (place != object_.end() && place->size() > most)
      throw Malformed(std::string("field '") + key + "' has more than " + std::to_string(most) + " elements");
    (*this)(key, list);
  }
  void Hex(const char* key, uint64_t& number) {
    std::string text;
    (*this)(key, text);
    if (text.compare(0, 2, "0x") != 0 || !ReadHex(std::string_view(text).substr(2), &number))
      Fail("is not a hexadecimal number");
  }
  void Path(const char* key, std::string& bytes) {
    std::string text;
    (*this)(key, text);
    bytes.clear();
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        bytes += text[i];
        continue;
      }
      unsigned char byte = 0;
      const std::string_view digits = std::string_view(text).substr(i + 1, 2);
      if (digits.size() != 2 || !ReadHex(digits, &byte)) Fail("is not percent-encoded");
      bytes += static_cast<char>(byte);
      i += 2;
    }
  }

 private:
  static constexpr int kMostDepth = 3;  // a field of a parameter of a check of a message

  [[noreturn]] void Fail(const char* why) const {
    throw Malformed(std::string("field '") + key_ + "' " + why);
  }
  void Read(const json& node, std::string& v) const {
    if (!node.is_string()) Fail("is not a string");
    v = node.get_ref<const std::string&>();
    if (cleans_) CleanInPlace(&v);
  }
  void Read(const json& node, std::optional<std::string>& v) const { Read(node, v.emplace()); }
  void Read(const json& node, bool& v) const {
    if (!node.is_boolean()) Fail("is not a boolean");
    v = node.get<bool>();
  }
  void Read(const json& node, double& v) const {
    if (node == "nan") {
      v = std::nan("");
    } else if (node == "inf" || node == "-inf") {
      v = node == "inf" ? HUGE_VAL : -HUGE_VAL;
    } else if (node.is_number()) {
      v = node.get<double>();
    } else {
      Fail("is not a number");
    }
  }
  void Read(const json& node, Value& v) const {
    if (!FromJson(node, &v)) Fail("is not the value of a parameter");
  }
  template <class T>
  void Read(const json& node, std::vector<T>& v) const {
    if (!node.is_array()) Fail("is not an array");
    v.clear();
    for (const json& element : node) Read(element, v.emplace_back());
  }
  template <class T>
  void Read(const json& node, std::map<std::string, T>& v) const {
    if (!node.is_object()) Fail("is not an object");
    for (const auto& [key, element] : node.items()) Read(element, v[key]);
  }
  template <class T>
  void Read(const json& node, T& v) const {
    if constexpr (std::is_enum_v<T>) {
      int number = 0;
      Read(node, number);
      if (number < 0 || number > static_cast<int>(LastOf(T()))) Fail("is out of range");
      v = static_cast<T>(number);
    } else if constexpr (std::is_integral_v<T>) {
      if (!node.is_number_integer()) Fail("is not an integer");
      const bool fits = node.is_number_unsigned() ? std::in_range<T>(node.get<uint64_t>())
                                                  : std::in_range<T>(node.get<int64_t>());
      if (!fits) Fail("is out of range");
      v = node.get<T>();
    } else {
      if (!node.is_object()) Fail("is not an object");
      if (depth_ == kMostDepth) Fail("lies too deep");
      Decoder io(node, cleans_, depth_ + 1);
      Fields(io, v);
    }
  }

  const json& object_;
  bool cleans_;
  int depth_;
  const char* key_ = "";  // of the field being read, for errors
};

// Makes *message the alternative of that name.
template <class Variant, size_t I = 0>
void Choose(const std::string& name, Variant* message) {
  if constexpr (I < std::variant_size_v<Variant>) {
    if (name == std::variant_alternative_t<I, Variant>::kName) {
      message->template emplace<I>();
    } else {
      Choose<Variant, I + 1>(name, message);
    }
  } else {
    throw Malformed("unknown message '" + name + "'");
  }
}

// What the types do not say of a message.
template <class M>
void Check(const M&) {}
void Check(const Crashed& m) {
  if (m.crash.signal != kTimeIsOver &&
      std::find(kCrashSignals.begin(), kCrashSignals.end(), m.crash.signal) == kCrashSignals.end())
    throw Malformed("field 'signal' is not one of a crash");
}

template <class Variant>
Result<Variant> Decode(std::string_view packet) {
  const auto shown = [&] { return "'" + CleanLine(packet, 80) + "'"; };
  try {
    const json object = json::parse(packet.begin(), packet.end(), nullptr, false);
    if (object.is_discarded()) return Error{"a packet is not JSON: " + shown()};
    if (!object.is_object()) return Error{"a packet is not an object: " + shown()};
    Decoder io(object, std::is_same_v<Variant, FromWorker>);
    std::string name;
    io("m", name);
    Variant message;
    Choose(name, &message);
    std::visit([&](auto& m) { Fields(io, m), Check(m); }, message);
    return message;
  } catch (const std::exception& e) {
    return Error{std::string(e.what()) + " in packet " + shown()};
  }
}

}  // namespace

Result<ToWorker> DecodeToWorker(std::string_view packet) { return Decode<ToWorker>(packet); }
Result<FromWorker> DecodeFromWorker(std::string_view packet) { return Decode<FromWorker>(packet); }

}  // namespace cudnn_ci::wire
