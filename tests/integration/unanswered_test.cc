// A mount that does not answer: a FUSE file system whose server takes every request and replies to none. Who
// touches a file there waits in the kernel, and not even SIGKILL ends that. Every command ends all the same.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/fuse.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>
#include <vector>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

// The file system. The kernel wakes all who wait when it is taken down.
class SilentMount {
 public:
  explicit SilentMount(const std::string& folder)
      : folder_(folder), fd_(open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    if (fd_ < 0) {
      problem_ = std::string("/dev/fuse: ") + strerror(errno);
      return;
    }
    mkdir(folder.c_str(), 0755);
    const std::string options =
        "fd=" + std::to_string(fd_) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    if (mount("silent", folder.c_str(), "fuse", MS_NODEV | MS_NOSUID, options.c_str()) != 0) {
      problem_ = std::string("mount: ") + strerror(errno);
      return;
    }
    mounted_ = true;
    server_ = std::thread([this] { Serve(); });
  }
  ~SilentMount() {
    if (mounted_) umount2(folder_.c_str(), MNT_FORCE | MNT_DETACH);
    if (server_.joinable()) server_.join();
    if (fd_ >= 0) close(fd_);
  }
  SilentMount(const SilentMount&) = delete;
  SilentMount& operator=(const SilentMount&) = delete;
  const std::string& problem() const { return problem_; }

 private:
  // Until the file system is gone (ENODEV).
  void Serve() const {
    std::vector<char> request(1 << 17);
    while (read(fd_, request.data(), request.size()) > 0 || errno == EINTR || errno == ENOENT) {
      fuse_in_header in{};
      memcpy(&in, request.data(), sizeof in);
      if (in.opcode != FUSE_INIT) continue;
      struct {
        fuse_out_header header;
        fuse_init_out init;
      } reply{};
      reply.header = {sizeof reply, 0, in.unique};
      reply.init.major = FUSE_KERNEL_VERSION;
      reply.init.minor = FUSE_KERNEL_MINOR_VERSION;
      reply.init.max_write = 4096;
      [[maybe_unused]] const ssize_t sent = write(fd_, &reply, sizeof reply);
    }
  }

  std::string folder_, problem_;
  int fd_;
  bool mounted_ = false;
  std::thread server_;
};

class Unanswered : public testing::Test {
 protected:
  void SetUp() override {
    if (!mount_.problem().empty()) GTEST_SKIP() << "no file system can be mounted here: " << mount_.problem();
    run_.Before({"timeout", "-s", "KILL", "60"});
  }
  std::string There(const std::string& name) const { return run_.Path("silent/" + name); }
  void UseSubject(const std::string& spec) const {
    run_.Matrix(Entry("fixture.noop"), 20, R"(, "subjects": {"mine": ")" + spec + "\"}");
  }
  GateRun run_;
  SilentMount mount_{run_.Path("silent")};
};

TEST_F(Unanswered, ASubjectThereIsNamedAndTheRunEnds) {
  for (const std::string kind : {"path:", "python:", "program:"}) {
    UseSubject(kind + There("x/bin/python"));
    const GateResult r = run_.Run({"--time-limit", "3"});
    EXPECT_EQ(r.exit_code, 6) << r.out << r.err;
    EXPECT_EQ(r.report["root_cause"]["slug"], "subject-unreadable");
    EXPECT_THAT(r.report["root_cause"]["detail"], HasSubstr(" mine (" + kind));
    EXPECT_THAT(r.report["root_cause"]["detail"], HasSubstr("no answer"));
  }
}

TEST_F(Unanswered, ASignalEndsTheWait) {
  UseSubject("path:" + There("x"));
  const pid_t pid = run_.Start({});
  // The reports are opened right before the image is looked at.
  for (int i = 0; i < 3000 && !run_.Exists("report/journal.jsonl"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = std::chrono::steady_clock::now();
  kill(pid, SIGTERM);
  const GateResult r = run_.Wait(pid);
  // Without the signal it would be half a minute.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  EXPECT_EQ(r.exit_code, 128 + SIGTERM) << r.out << r.err;
  EXPECT_EQ(r.report["verdict"], "interrupted");
}

// They have no time limit of their own, and wait for half a minute: all at a time.
TEST_F(Unanswered, CommandsEndWithOneLine) {
  UseSubject("path:" + There("x"));
  const std::string matrix = run_.Path("matrix.json"), first = run_.Path("first.json");
  std::vector<std::future<void>> commands;
  for (const std::vector<std::string>& command : {std::vector<std::string>{"facts"},
                                                  {"facts", "--matrix", matrix},
                                                  {"list", "--matrix", matrix},
                                                  {"list", "--auto"},
                                                  {"--auto", "--output-dir", run_.Path("out")},
                                                  {"init", first},
                                                  {"init", first, "--subject", "path:" + There("x")}})
    commands.push_back(std::async(std::launch::async, [this, command] {
      GateRun run;
      run.Before({"timeout", "-s", "KILL", "100"});
      run.Set("VIRTUAL_ENV", There("venv"));
      const GateResult r = run.Command(command);
      EXPECT_EQ(r.exit_code, 6) << testing::PrintToString(command) << r.out << r.err;
      EXPECT_THAT(r.err, HasSubstr("no answer")) << testing::PrintToString(command);
    }));
  for (const std::future<void>& command : commands) command.wait();
  EXPECT_FALSE(run_.Exists("first.json"));
  EXPECT_FALSE(run_.Exists("out/junit.xml"));
}

}  // namespace
}  // namespace cudnn_ci
