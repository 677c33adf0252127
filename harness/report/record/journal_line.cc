// One line of the journal. See journal_line.h; the fields are listed in record_fields.h.
#include "report/record/journal_line.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_bytes.h"
#include "base/text.h"
#include "model/record/field_reader.h"
#include "model/record/field_writer.h"
#include "model/record/record_fields.h"
#include "report/record/own_reports.h"
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

std::string Encode(const Event& event, size_t max_string) {
  JsonText out(0, max_string);
  out.BeginObject().Key("v").String(kJournalVersion).Key("seq").Int(event.seq).Key("t_ms").Int(event.t_ms);
  out.Key("ev").String(Name(event.body));
  FieldWriter io(&out, RecordRules{EmptyFields::kLeftOut});
  std::visit([&io](const auto& body) { Fields(io, body); }, event.body);
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
  if (JsonNesting(line) > kMostJsonNesting) throw DecodeError("nested too deep");
  const nlohmann::json node = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
  if (!node.is_object()) throw DecodeError("not a JSON object");
  FieldReader io(node, "event", RecordRules());
  std::string version, ev;
  io("v", version);
  if (version != kJournalVersion) {
    throw DecodeError("version \"" + CleanLine(version, 60) + "\" is not " + kJournalVersion +
                      ", which this cudnn-ci reads");
  }
  int64_t seq = 0, t_ms = 0;
  io("seq", seq);
  io("t_ms", t_ms);
  io("ev", ev);
  if (seq != *last_seq + 1) {
    throw DecodeError("seq " + std::to_string(seq) + " follows " + std::to_string(*last_seq) +
                      ": lines are missing or two journals were joined");
  }
  *last_seq = seq;
  if (!FollowsInChain(line, chain))
    throw DecodeError(
        "the line was changed, or does not follow the one before: its \"h\" is not that of its content");
  EventBody body;
  if (!Choose(ev, &body)) {
    *unknown_type = CleanLine(ev, 60);
    return std::nullopt;
  }
  FieldReader fields(node, ev, RecordRules());
  std::visit([&fields](auto& event) { Fields(fields, event); }, body);
  return Event(seq, t_ms, std::move(body));
}

}  // namespace cudnn_ci
