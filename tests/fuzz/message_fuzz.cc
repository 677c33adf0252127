// Packets from a process that may be out of its mind: whatever the bytes, decoding gives a message or an
// error, and what was understood can be said again and is understood the same. Both directions.
#include "fuzz_target.h"
#include "wire/message.h"

namespace cudnn_ci::wire {
namespace {

// The messages have no operator==: two are the same when they are encoded the same.
template <class Message>
void RoundTrip(const Result<Message>& decoded, Result<Message> (*decode)(std::string_view)) {
  if (!decoded.ok()) {
    Require(!decoded.error().empty(), "an error says something", "");
    return;
  }
  const std::string once = Encode(*decoded);
  const Result<Message> again = decode(once);
  Require(again.ok(), "what was encoded decodes", once + (again.ok() ? "" : "\n" + again.error()));
  Require(again->index() == decoded->index(), "it is the same kind of message", once);
  Require(Encode(*again) == once, "it is the same message", once + "\n" + Encode(*again));
}

}  // namespace
}  // namespace cudnn_ci::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace wire = cudnn_ci::wire;
  if (size > wire::kMaxPacket) return 0;  // the socket gives no more
  const std::string_view packet(reinterpret_cast<const char*>(data), size);
  wire::RoundTrip(wire::DecodeFromWorker(packet), &wire::DecodeFromWorker);
  wire::RoundTrip(wire::DecodeToWorker(packet), &wire::DecodeToWorker);
  return 0;
}
