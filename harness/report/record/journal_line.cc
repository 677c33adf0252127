// One line of the journal. See journal_line.h; the fields are listed in record_fields.h.
#include "report/record/journal_line.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "model/json/value_json.h"
#include "model/record/record_fields.h"
#include "report/record/own_reports.h"
#include "report/record/record_writer.h"
#include "report/text/json_text.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kSealKey = ",\"h\":\"";
constexpr size_t kHashDigits = 16;
constexpr size_t kSealSize = kSealKey.size() + kHashDigits + 2;  // with the closing "}

std::string NextInChain(const std::string& chain, std::string_view content) {
  std::string bytes = chain;
  bytes += content;
  return Sha256Hex(bytes).substr(0, kHashDigits);
}

class Decoder {
 public:
  Decoder(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  void Ref(CaseRef& ref) { (*this)("id", ref.id), (*this)("device", ref.device); }
  template <class T>
  void operator()(const char* key, T& value) {
    const auto place = object_.find(key);
    if (place != object_.end()) Read(*place, where_ + "." + key, value);
  }
  template <class T>
  void OrNull(const char* key, T& value) {
    (*this)(key, value);
  }
  template <class T>
  void Optional(const char* key, T& value) {
    (*this)(key, value);
  }
  [[noreturn]] void Refuse(const char* key, const char* why) const {
    throw DecodeError{where_ + "." + key + ": " + why};
  }

 private:
  using Node = nlohmann::json;

  [[noreturn]] static void Fail(const Node& node, const std::string& where, const char* wanted) {
    throw DecodeError{where + ": expected " + wanted + ", found " + node.type_name()};
  }
  static void Read(const Node& node, const std::string& where, std::string& v) {
    if (!node.is_string()) Fail(node, where, "a string");
    v = node.get_ref<const std::string&>();
  }
  static void Read(const Node& node, const std::string& where, bool& v) {
    if (!node.is_boolean()) Fail(node, where, "true or false");
    v = node.get<bool>();
  }
  static void Read(const Node& node, const std::string& where, int64_t& v) {
    const bool fits = node.is_number_integer() && (!node.is_number_unsigned() ||
                                                   node.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
    if (!fits) Fail(node, where, "an integer");
    v = node.get<int64_t>();
  }
  static void Read(const Node& node, const std::string& where, int& v) {
    int64_t wide = 0;
    Read(node, where, wide);
    if (wide < INT32_MIN || wide > INT32_MAX) Fail(node, where, "an integer of 32 bits");
    v = static_cast<int>(wide);
  }
  static void Read(const Node& node, const std::string& where, double& v) {
    if (node.is_number()) {
      v = node.get<double>();
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
    Decoder io(node, where);
    io("is", is);
    const bool known = Choose<0>(is, &v);
    if (!known) throw DecodeError{where + ": unknown outcome \"" + CleanLine(is, 60) + "\""};
    std::visit([&io](auto& o) { journal::Fields(io, o); }, v);
  }
  // Makes *v the alternative of that name.
  template <size_t I>
  static bool Choose(const std::string& is, Outcome* v) {
    if constexpr (I < std::variant_size_v<Outcome>) {
      if (is == Name(Outcome(std::in_place_index<I>))) {
        v->emplace<I>();
        return true;
      }
      return Choose<I + 1>(is, v);
    }
    return false;
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
      Decoder io(node, where);
      journal::Fields(io, v);
    }
  }

  const Node& object_;
  std::string where_;
};

// Makes *body the event of that name; false when this version knows none.
template <size_t I = 0>
bool ChooseEvent(const std::string& ev, EventBody* body) {
  if constexpr (I < std::variant_size_v<EventBody>) {
    if (ev == Name(EventBody(std::in_place_index<I>))) {
      body->emplace<I>();
      return true;
    }
    return ChooseEvent<I + 1>(ev, body);
  }
  return false;
}

std::string Encode(const Event& event, size_t max_string) {
  JsonText out(0, max_string);
  out.BeginObject().Key("v").String(kJournalVersion).Key("seq").Int(event.seq).Key("t_ms").Int(event.t_ms);
  out.Key("ev").String(Name(event.body));
  RecordWriter io(&out, EmptyFields::kLeftOut);
  std::visit([&io](const auto& body) { journal::Fields(io, body); }, event.body);
  out.EndObject();
  return out.Take();
}

}  // namespace

std::string SealLine(std::string_view object, std::string* chain) {
  std::string line(object.substr(0, object.size() - 1));
  *chain = NextInChain(*chain, line);
  line += kSealKey;
  return line += *chain + "\"}\n";
}

std::string EncodeEvent(const Event& event, std::string* chain) {
  for (size_t max_string : {kMaxJournalLine, size_t{64} << 10, size_t{4} << 10, size_t{256}}) {
    const std::string object = Encode(event, max_string);
    if (object.size() + kSealSize + 1 <= kMaxJournalLine) return SealLine(object, chain);
  }
  return "";
}

bool FollowsInChain(std::string_view line, std::string* chain) {
  if (line.size() < kSealSize) return false;
  const std::string_view content = line.substr(0, line.size() - kSealSize);
  std::string hash = NextInChain(*chain, content);
  if (line.substr(content.size()) != std::string(kSealKey) + hash + "\"}") return false;
  *chain = std::move(hash);
  return true;
}

std::optional<Event> DecodeLine(std::string_view line, int64_t* last_seq, std::string* chain,
                                std::string* unknown_type) {
  const nlohmann::json node = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
  if (!node.is_object()) throw DecodeError{"not a JSON object"};
  Decoder io(node, "event");
  std::string version, ev;
  io("v", version);
  if (version != kJournalVersion) {
    throw DecodeError{"version \"" + CleanLine(version, 60) + "\" is not " + kJournalVersion +
                      ", which this cudnn-ci reads"};
  }
  int64_t seq = 0, t_ms = 0;
  io("seq", seq);
  io("t_ms", t_ms);
  io("ev", ev);
  if (seq != *last_seq + 1) {
    throw DecodeError{"seq " + std::to_string(seq) + " follows " + std::to_string(*last_seq) +
                      ": lines are missing or two journals were joined"};
  }
  *last_seq = seq;
  if (!FollowsInChain(line, chain))
    throw DecodeError{
        "the line was changed, or does not follow the one before: its \"h\" is not that of its content"};
  EventBody body;
  if (!ChooseEvent(ev, &body)) {
    *unknown_type = CleanLine(ev, 60);
    return std::nullopt;
  }
  Decoder fields(node, ev);
  std::visit([&fields](auto& event) { journal::Fields(fields, event); }, body);
  return Event(seq, t_ms, std::move(body));
}

}  // namespace cudnn_ci
