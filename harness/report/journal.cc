// The journal: writing and reading of events. See journal.h; the fields are listed in journal_fields.h.
#include "report/journal.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "report/journal_fields.h"
#include "report/json_text.h"

namespace cudnn_ci {
namespace {

constexpr char kVersion[] = "journal/1";
constexpr Layer kLayers[] = {Layer::kDriver,      Layer::kToolkit,   Layer::kCudnn, Layer::kInit,
                             Layer::kConvolution, Layer::kFramework, Layer::kOther};
constexpr AttemptMode kModes[] = {AttemptMode::kAlone, AttemptMode::kShared, AttemptMode::kConfirm,
                                  AttemptMode::kRetry};

class Encoder {
 public:
  explicit Encoder(JsonText* out) : out_(out) {}

  void Ref(const CaseRef& ref) { (*this)("id", ref.id), (*this)("device", ref.device); }
  template <class T>
  void operator()(const char* key, const T& value) {
    // Empty texts and lists are left out: they are what a reader starts from.
    if constexpr (requires { value.empty(); }) {
      if (value.empty()) return;
    }
    out_->Key(key);
    Write(value);
  }

 private:
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
      out_->BeginObject();
      journal::Fields(*this, v);
      out_->EndObject();
    }
  }

  JsonText* out_;
};

// What is wrong with a line; ends at ParseLine.
struct DecodeError {
  std::string message;
};

class Decoder {
 public:
  Decoder(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  void Ref(CaseRef& ref) { (*this)("id", ref.id), (*this)("device", ref.device); }
  template <class T>
  void operator()(const char* key, T& value) {
    const auto place = object_.find(key);
    if (place != object_.end()) Read(*place, where_ + "." + key, value);
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
    if (node.is_boolean()) {
      v = node.get<bool>();
    } else if (node.is_number_float()) {
      v = node.get<double>();
    } else if (node.is_number()) {
      Read(node, where, v.emplace<int64_t>());
    } else if (node.is_string()) {
      v = node.get_ref<const std::string&>();
    } else if (node.is_object() && node.contains("strings")) {
      Read(node["strings"], where, v.emplace<std::vector<std::string>>());
    } else if (node.is_array() && !node.empty() && node.front().is_string()) {
      Read(node, where, v.emplace<std::vector<std::string>>());
    } else {
      Read(node, where, v.emplace<std::vector<int64_t>>());
    }
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
      if (!ReadEnum(text, v)) throw DecodeError{where + ": unknown value \"" + CleanLine(text, 60) + "\""};
    } else {
      if (!node.is_object()) Fail(node, where, "an object");
      Decoder io(node, where);
      journal::Fields(io, v);
    }
  }
  template <class T>
  static bool ReadEnum(const std::string& text, T& v) {
    if constexpr (std::is_same_v<T, Layer>) {
      return ReadOneOf(kLayers, text, v);
    } else if constexpr (std::is_same_v<T, AttemptMode>) {
      return ReadOneOf(kModes, text, v);
    } else {
      return Parse(text, &v);
    }
  }
  template <class T, size_t N>
  static bool ReadOneOf(const T (&all)[N], const std::string& text, T& v) {
    for (T candidate : all) {
      if (text != Name(candidate)) continue;
      v = candidate;
      return true;
    }
    return false;
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

// The event of a line, or nothing when this version does not know it. *last_seq is the seq of the line
// before, 0 at the start.
std::optional<Event> ParseLine(std::string_view line, int64_t* last_seq) {
  const nlohmann::json node = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
  if (!node.is_object()) throw DecodeError{"not a JSON object"};
  Decoder io(node, "event");
  std::string version, ev;
  io("v", version);
  if (version != kVersion) {
    throw DecodeError{"version \"" + CleanLine(version, 60) + "\" is not " + kVersion +
                      ", which this cudnn-ci reads"};
  }
  Event event;
  io("seq", event.seq);
  io("t_ms", event.t_ms);
  io("ev", ev);
  if (event.seq != *last_seq + 1) {
    throw DecodeError{"seq " + std::to_string(event.seq) + " follows " + std::to_string(*last_seq) +
                      ": lines are missing or two journals were joined"};
  }
  *last_seq = event.seq;
  if (!ChooseEvent(ev, &event.body)) return std::nullopt;
  Decoder fields(node, ev);
  std::visit([&fields](auto& body) { journal::Fields(fields, body); }, event.body);
  return event;
}

// Splits what is fed to it into lines and decodes them.
class LineReader {
 public:
  explicit LineReader(std::string name) : name_(std::move(name)) {}

  Status Feed(std::string_view chunk) {
    for (size_t end; (end = chunk.find('\n')) != std::string_view::npos; chunk.remove_prefix(end + 1)) {
      ++line_;
      std::string_view line = chunk.substr(0, end);
      if (!pending_.empty()) {
        pending_ += line;
        line = pending_;
      }
      if (line.size() >= kMaxJournalLine) return TooLong();
      try {
        if (std::optional<Event> event = ParseLine(line, &last_seq_)) events_.push_back(std::move(*event));
      } catch (const DecodeError& e) {
        return Error{name_ + ":" + std::to_string(line_) + ": " + e.message};
      }
      pending_.clear();
    }
    pending_ += chunk;
    if (pending_.size() >= kMaxJournalLine) {
      ++line_;
      return TooLong();
    }
    return {};
  }
  std::vector<Event> TakeEvents() { return std::move(events_); }

 private:
  Error TooLong() const { return {name_ + ":" + std::to_string(line_) + ": line longer than 1 MiB"}; }

  std::string name_;
  std::string pending_;
  std::vector<Event> events_;
  int64_t line_ = 0, last_seq_ = 0;
};

std::string Encode(const Event& event, size_t max_string) {
  JsonText out(0, max_string);
  out.BeginObject().Key("v").String(kVersion).Key("seq").Int(event.seq).Key("t_ms").Int(event.t_ms);
  out.Key("ev").String(Name(event.body));
  Encoder io(&out);
  std::visit([&io](const auto& body) { journal::Fields(io, body); }, event.body);
  out.EndObject();
  return out.Take() += '\n';
}

}  // namespace

std::string EncodeEvent(const Event& event) {
  for (size_t max_string : {kMaxJournalLine, size_t{64} << 10, size_t{4} << 10, size_t{256}}) {
    std::string line = Encode(event, max_string);
    if (line.size() <= kMaxJournalLine) return line;
  }
  return "";
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::Open(const std::string& path) {
  Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.valid()) return Error{"cannot create " + path + ": " + std::strerror(errno)};
  return std::unique_ptr<JournalWriter>(new JournalWriter(path, std::move(fd)));
}

Status JournalWriter::OnEvent(const Event& event, const Summary&) {
  const std::string line = EncodeEvent(event);
  if (line.empty()) return Error{"cannot write " + path_ + ": event " + Name(event.body) + " is over 1 MiB"};
  return WriteAll(fd_.get(), line, path_);
}

Status JournalWriter::Finish(const Summary&) {
  // What close(2) alone would swallow: a network file system reports a full disk here.
  if (fsync(fd_.get()) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) {
    return Error{"cannot write " + path_ + ": " + std::strerror(errno)};
  }
  return {};
}

Result<std::vector<Event>> ParseJournal(std::string_view text, const std::string& name) {
  LineReader reader(name);
  if (Status status = reader.Feed(text); !status) return Error{status.error()};
  return reader.TakeEvents();
}

Result<std::vector<Event>> ReadJournal(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd.valid() || fstat(fd.get(), &info) != 0)
    return Error{"cannot read " + path + ": " + std::strerror(errno)};
  if (!S_ISREG(info.st_mode)) return Error{"cannot read " + path + ": not a regular file"};
  LineReader reader(path);
  std::string buffer(size_t{256} << 10, '\0');
  for (;;) {
    const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{"cannot read " + path + ": " + std::strerror(errno)};
    if (got == 0) return reader.TakeEvents();
    if (Status status = reader.Feed({buffer.data(), static_cast<size_t>(got)}); !status)
      return Error{status.error()};
  }
}

}  // namespace cudnn_ci
