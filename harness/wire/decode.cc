// Packets to messages. Decoding trusts nothing: every field is checked for presence, type and range, and what
// a worker says in words is cleaned.
#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "model/record/field_reader.h"
#include "wire/message_fields.h"

namespace cudnn_ci::wire {
namespace {

using nlohmann::json;

// All of `digits` as a hexadecimal number.
template <class Number>
bool ReadHex(std::string_view digits, Number* number) {
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, *number, 16);
  return read.ec == std::errc() && read.ptr == end;
}

template <class Variant>
Result<Variant> Decode(std::string_view packet) {
  const auto shown = [&] { return "'" + CleanLine(packet, 80) + "'"; };
  try {
    const json object = json::parse(packet.begin(), packet.end(), nullptr, false);
    if (object.is_discarded()) return Error{"a packet is not JSON: " + shown()};
    if (!object.is_object()) return Error{"a packet is not an object: " + shown()};
    MessageRules rules;
    rules.cleans = std::is_same_v<Variant, FromWorker>;
    std::string name;
    FieldReader(object, "message", rules)("m", name);
    Variant message;
    if (!Choose(name, &message)) return Error{"unknown message '" + name + "' in packet " + shown()};
    FieldReader io(object, name, rules);
    std::visit([&io](auto& m) { Fields(io, m); }, message);
    return message;
  } catch (const std::exception& e) {
    return Error{std::string(e.what()) + " in packet " + shown()};
  }
}

}  // namespace

bool ReadHexText(const std::string& text, uint64_t* number) {
  return text.starts_with("0x") && ReadHex(std::string_view(text).substr(2), number);
}

bool ReadPathText(const std::string& text, std::string* bytes) {
  bytes->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      *bytes += text[i];
      continue;
    }
    unsigned char byte = 0;
    const std::string_view digits = std::string_view(text).substr(i + 1, 2);
    if (digits.size() != 2 || !ReadHex(digits, &byte)) return false;
    *bytes += static_cast<char>(byte);
    i += 2;
  }
  return true;
}

Result<ToWorker> DecodeToWorker(std::string_view packet) { return Decode<ToWorker>(packet); }
Result<FromWorker> DecodeFromWorker(std::string_view packet) { return Decode<FromWorker>(packet); }

}  // namespace cudnn_ci::wire
