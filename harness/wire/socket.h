// Packets on a SOCK_SEQPACKET socket.
#ifndef CUDNN_CI_WIRE_SOCKET_H_
#define CUDNN_CI_WIRE_SOCKET_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci::wire {

struct SocketPair {
  Fd ours, theirs;  // both close-on-exec; `ours` does not block
};
Result<SocketPair> MakeSocketPair();

enum class Io {
  kOk,
  kWouldBlock,
  kClosed,   // the other side is gone
  kTooLong,  // a packet over kMaxPacket arrived: dropped
  kError     // errno says why
};
// Sends one packet. Never raises SIGPIPE.
Io Send(int fd, std::string_view packet);
// Waits awake, for at most this long, until there is a packet or an end: a process that sleeps takes longer
// to wake than a short case runs.
void WaitAwake(int fd, int64_t ns);
// Receives one packet into *packet.
Io Receive(int fd, std::string* packet);

}  // namespace cudnn_ci::wire

#endif  // CUDNN_CI_WIRE_SOCKET_H_
