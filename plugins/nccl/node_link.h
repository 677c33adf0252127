// Lines over TCP between tasks on several nodes. Knows nothing of what they mean, of CUDA or the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_NODE_LINK_H_
#define CUDNN_CI_PLUGINS_NCCL_NODE_LINK_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace cudnn_ci {

// One end of a connection. One thread.
class NodeLink {
 public:
  // Takes the socket over.
  explicit NodeLink(int fd);
  ~NodeLink();
  NodeLink(const NodeLink&) = delete;
  NodeLink& operator=(const NodeLink&) = delete;

  int fd() const { return fd_; }
  // From now on longer lines are taken: it has shown who it is.
  void Trust() { most_ = kMostTrusted; }
  // Waits up to 5 s for room. False: the other side is gone.
  bool Say(const std::string& line) const;
  // Hears what there is, without waiting. False: the other side is gone, and all that it said was heard.
  bool Hear(const std::function<void(const std::string& line)>& take);
  // The next line, waited for. False: none came, or the other side is gone.
  bool Await(double seconds, std::string* line);

 private:
  bool NextLine(std::string* line);
  bool Read();

  // Bytes of a line; with a longer one the other side is gone.
  static constexpr std::size_t kMost = 4096, kMostTrusted = 256 << 10;

  const int fd_;
  std::size_t most_ = kMost;
  std::string unread_;
};

// A socket that listens on a port of all addresses; it blocks nobody. Throws std::runtime_error.
int ListenOn(int port);
// A connection that came; null: there is none.
std::unique_ptr<NodeLink> Accept(int listener);
// Null: `error` says why.
std::unique_ptr<NodeLink> ConnectTo(const std::string& host, int port, double seconds, std::string* error);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_NODE_LINK_H_
