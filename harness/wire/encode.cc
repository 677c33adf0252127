// Messages to packets. JSON is chosen because a crashed worker's last packet can be read by a person.
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "model/record/field_writer.h"
#include "wire/message_fields.h"

namespace cudnn_ci::wire {
namespace {

using nlohmann::json;

// Takes the fields of a message in the order of their list, and prints them in that of their names.
class PacketText {
 public:
  void BeginObject() { Open(json::object()); }
  void BeginCompactObject() { BeginObject(); }
  void BeginArray() { Open(json::array()); }
  void EndObject() { open_.pop_back(); }
  void EndArray() { open_.pop_back(); }
  void Key(std::string key) { key_ = std::move(key); }
  void String(std::string text) { Add(std::move(text)); }
  void Bool(bool v) { Add(v); }
  template <class Integer>
  void Int(Integer v) {
    Add(v);
  }
  // NaN and the infinities have no number in JSON.
  void Double(double v) {
    if (std::isfinite(v))
      Add(v);
    else
      Add(std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
  }
  void Null() { Add(nullptr); }
  void Param(const Value& value) {
    std::visit([this](const auto& v) { Add(v); }, value);
  }
  std::string Take() const { return object_.dump(-1, ' ', false, json::error_handler_t::replace); }

 private:
  json& Add(json value) {
    json& in = *open_.back();
    return in.is_array() ? in.emplace_back(std::move(value)) : in[key_] = std::move(value);
  }
  void Open(json empty) { open_.push_back(&Add(std::move(empty))); }

  json object_ = json::object();
  std::vector<json*> open_{&object_};
  std::string key_;
};

template <class Variant>
std::string Packet(const Variant& message, size_t text_bound) {
  PacketText out;
  MessageRules rules;
  rules.text_bound = text_bound;
  FieldWriter io(&out, rules);
  io("m", std::string(Name(message)), Mark::kWhole);
  std::visit([&io](const auto& m) { Fields(io, m); }, message);
  return out.Take();
}

}  // namespace

// What is no UTF-8 is shown as everywhere: by another word for it no secret in it would be recognized.
std::string MessageRules::Text(const std::string& bytes, Mark mark) const {
  const std::string text = IsValidUtf8(bytes) ? bytes : CleanText(bytes);
  const bool is_cut = text_bound != std::string::npos && mark != Mark::kWhole && mark != Mark::kExact;
  return is_cut ? HeadAndTail(text, text_bound / 4, text_bound - text_bound / 4) : text;
}

std::string HexText(uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, number);
  return text;
}

std::string PathText(const std::string& bytes) {
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

// What the harness says is never cut: a parameter that is cut is another one.
std::string Encode(const ToWorker& message) { return Packet(message, std::string::npos); }

// Escaping may make a text up to six times longer: the bound is lowered until the packet fits.
std::string Encode(const FromWorker& message) {
  size_t text_bound = kMaxText;
  std::string packet = Packet(message, text_bound);
  while (packet.size() > kMaxPacket && text_bound > 64) packet = Packet(message, text_bound /= 2);
  return packet;
}

}  // namespace cudnn_ci::wire
