// A worker's process and its two channels: the control socket, with what could not be sent yet, and the
// pipe of its output. Moves bytes; decides nothing.
#ifndef CUDNN_CI_EXEC_WORKERS_WORKER_PROCESS_H_
#define CUDNN_CI_EXEC_WORKERS_WORKER_PROCESS_H_

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "exec/system/process.h"

struct pollfd;

namespace cudnn_ci {

struct WorkerCommand {
  std::string worker_path;           // of cudnn-ci-worker
  std::vector<std::string> plugins;  // files to load
  std::vector<std::string> env;
  bool for_debugger = false;                  // it prints where we print, and others may look into it
  std::vector<std::string> third_party = {};  // of the plugins, those that are not the tool's own
};

class WorkerProcess {
 public:
  static Result<WorkerProcess> Start(ProcessControl* control, const WorkerCommand& command);

  pid_t pid() const { return pid_; }
  void Send(std::string packet);  // queued when the socket is full
  // Calls on_packet for each packet that has arrived, at most `limit`; on_bad when one is too long. Returns
  // false once the other side has closed.
  bool Receive(int limit, const std::function<void(std::string_view)>& on_packet,
               const std::function<void(const std::string&)>& on_bad);
  // Calls on_bytes for what has been printed, at most `limit` bytes. Returns false once no process holds the
  // pipe.
  bool ReadOutput(size_t limit, const std::function<void(std::string_view)>& on_bytes);

  bool control_open() const { return control_.valid(); }
  bool output_open() const { return output_.valid(); }
  // Descriptors to wait for; either may be absent.
  void AddTo(std::vector<pollfd>* fds) const;

 private:
  void Flush();
  pid_t pid_ = -1;
  Fd control_, output_;
  std::deque<std::string> unsent_;
  std::string packet_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_WORKER_PROCESS_H_
