#include "worker_client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "wire/socket.h"

extern char** environ;

namespace cudnn_ci {

WorkerClient::WorkerClient(const std::string& plugin, const std::vector<std::string>& env) {
  Result<wire::SocketPair> pair = wire::MakeSocketPair();
  if (!pair.ok()) throw std::runtime_error(pair.error());
  control_ = std::move(pair->ours);
  std::vector<std::string> argv = {CUDNN_CI_WORKER, std::to_string(getpid()), plugin}, all;
  for (char** e = environ; *e; ++e) all.emplace_back(*e);
  all.insert(all.begin(), env.begin(), env.end());  // getenv takes the first
  std::vector<char*> argv_pointers, env_pointers;
  for (std::string& s : argv) argv_pointers.push_back(s.data());
  for (std::string& s : all) env_pointers.push_back(s.data());
  argv_pointers.push_back(nullptr);
  env_pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pair->theirs.get(), 3);
  const int error =
      posix_spawn(&pid_, CUDNN_CI_WORKER, &actions, nullptr, argv_pointers.data(), env_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " CUDNN_CI_WORKER);
}

WorkerClient::~WorkerClient() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<int> WorkerClient::Wait(double seconds) {
  for (double waited = 0; waited < seconds; waited += 0.01) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return status;
    }
    usleep(10'000);
  }
  return std::nullopt;
}

void WorkerClient::Send(const wire::ToWorker& message) { wire::Send(control_.get(), wire::Encode(message)); }

std::optional<wire::FromWorker> WorkerClient::Receive() {
  pollfd p{control_.get(), POLLIN, 0};
  if (poll(&p, 1, 20'000) <= 0) return std::nullopt;
  std::string packet;
  if (wire::Receive(control_.get(), &packet) != wire::Io::kOk) return std::nullopt;
  Result<wire::FromWorker> message = wire::DecodeFromWorker(packet);
  if (!message.ok()) throw std::runtime_error(message.error());
  return *message;
}

std::vector<CheckInfo> WorkerClient::DescribeChecks() {
  Send(wire::Describe{});
  std::vector<CheckInfo> checks;
  while (std::optional<wire::FromWorker> message = Receive()) {
    if (std::holds_alternative<wire::DescribeEnd>(*message)) break;
    if (auto* m = std::get_if<wire::CheckDescribed>(&*message)) checks.push_back(std::move(m->check));
  }
  return checks;
}

std::vector<wire::FromWorker> WorkerClient::RunCase(const std::string& check, const Params& params) {
  Send(wire::Run{1, check, params, 20, 1, {}});
  std::vector<wire::FromWorker> messages;
  while (std::optional<wire::FromWorker> message = Receive()) {
    const bool last = std::holds_alternative<wire::CaseFinished>(*message);
    messages.push_back(std::move(*message));
    if (last) break;
  }
  return messages;
}

}  // namespace cudnn_ci
