#include "exec/workers/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "exec/system/guardian.h"
#include "wire/message.h"
#include "wire/socket.h"

namespace cudnn_ci {

Result<WorkerProcess> WorkerProcess::Start(ProcessControl* control, const WorkerCommand& command) {
  Result<wire::SocketPair> sockets = wire::MakeSocketPair();
  if (!sockets.ok()) return Error{sockets.error()};
  WorkerProcess p;
  SpawnRequest request;
  request.argv = {command.worker_path};
  if (command.for_debugger) request.argv.emplace_back("--open");
  request.argv.push_back(RunMark());
  for (const std::string& plugin : command.plugins) {
    if (IsEmbedded(plugin)) {
      const Result<int> file = Embedded()->Descriptor(plugin);
      if (!file.ok()) return Error{file.error()};
      const size_t number = SpawnRequest::kFirstHandedOver + request.handed_over.size();
      request.argv.insert(request.argv.end(), {"--descriptor", std::to_string(number)});
      request.handed_over.push_back(*file);
    }
    request.argv.push_back(plugin);
  }
  request.env = command.env;
  request.control_fd = sockets->theirs.get();
  Fd write_end;
  if (!command.for_debugger) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return Error{std::string("pipe2: ") + strerror(errno)};
    p.output_ = Fd(fds[0]);
    write_end = Fd(fds[1]);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    request.output_fd = fds[1];
  }
  Result<pid_t> pid = control->Spawn(request);
  if (!pid.ok()) return Error{pid.error()};
  p.pid_ = *pid;
  p.control_ = std::move(sockets->ours);
  return p;
}

void WorkerProcess::Send(std::string packet) {
  if (!control_.valid()) return;
  unsent_.push_back(std::move(packet));
  Flush();
}

void WorkerProcess::Flush() {
  while (!unsent_.empty() && control_.valid()) {
    const wire::Io io = wire::Send(control_.get(), unsent_.front());
    if (io == wire::Io::kWouldBlock) return;
    // A closed socket is noticed on the receiving side; what was meant for it is lost with it.
    unsent_.pop_front();
  }
}

bool WorkerProcess::Receive(int limit, const std::function<void(std::string_view)>& on_packet,
                            const std::function<void(const std::string&)>& on_bad) {
  Flush();
  for (int i = 0; i < limit && control_.valid(); ++i) {
    switch (wire::Receive(control_.get(), &packet_)) {
      case wire::Io::kOk:
        on_packet(packet_);
        break;
      case wire::Io::kTooLong:
        on_bad("a packet of more than " + std::to_string(wire::kMaxPacket) + " bytes");
        break;
      case wire::Io::kWouldBlock:
        return true;
      case wire::Io::kClosed:
      case wire::Io::kError:
        control_.Close();
        break;
    }
  }
  return control_.valid();
}

bool WorkerProcess::ReadOutput(size_t limit, const std::function<void(std::string_view)>& on_bytes) {
  char buffer[8192];
  for (size_t total = 0; output_.valid() && total < limit;) {
    const ssize_t n = read(output_.get(), buffer, sizeof buffer);
    if (n > 0) {
      on_bytes({buffer, static_cast<size_t>(n)});
      total += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return true;
    } else {
      output_.Close();
    }
  }
  return output_.valid();
}

void WorkerProcess::AddTo(std::vector<pollfd>* fds) const {
  if (control_.valid())
    fds->push_back({control_.get(), static_cast<short>(POLLIN | (unsent_.empty() ? 0 : POLLOUT)), 0});
  if (output_.valid()) fds->push_back({output_.get(), POLLIN, 0});
}

}  // namespace cudnn_ci
