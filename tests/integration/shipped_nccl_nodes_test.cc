// nccl.nodes: tasks as a launcher starts them on several nodes, each a run of its own, against a fake NCCL
// whose ranks meet over sockets. One verdict for all, whatever becomes of one of them, and nobody left.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET, address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Below the ports that the kernel gives to connections: one that is tried before anybody listens could else
// meet itself.
int FreePort() {
  for (int port = 12000 + getpid() % 20000;; ++port) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = Loopback(port);
    const bool is_free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (is_free) return port;
  }
}

// Connects as soon as somebody listens, says something, and waits until it is sent away.
void BeAStranger(int port, const std::string& says) {
  const sockaddr_in address = Loopback(port);
  for (int tries = 0; tries < 10'000; ++tries) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      send(fd, says.data(), says.size(), MSG_NOSIGNAL);
      for (char c; recv(fd, &c, 1, 0) > 0;) {
      }
      close(fd);
      return;
    }
    close(fd);
    usleep(1000);
  }
}

// A machine with a task.
struct Task : ShippedTest {
  void TestBody() override {}
  using ShippedTest::gate;
  using ShippedTest::Set;

  // Seconds in which others have to come: enough on a machine under load, where nobody is waited for in vain.
  int join_s = 30;

  CheckOutcome Run(const std::string& params) {
    return Check("nccl.nodes", R"("params": {"limit_s": 2, "extent": "least", "join_s": )" +
                                   std::to_string(join_s) + params + "}");
  }
};

class NcclNodes : public ::testing::Test {
 protected:
  NcclNodes() {
    for (int i = 0; i < 2; ++i) {
      tasks_.push_back(std::make_unique<Task>());
      Task& task = *tasks_.back();
      task.Set("SLURM_PROCID", std::to_string(i));
      task.Set("SLURM_NTASKS", "2");
      task.Set("SLURM_JOB_ID", "77");
      task.Set("SLURM_STEP_ID", "0");
      task.Set("MASTER_PORT", std::to_string(port_));
      task.Set("MASTER_ADDR", "localhost");
      task.Set("FAKE_UUID", std::to_string(i) + "00");
      task.Set("FAKE_NCCL_HOSTS", "1");
      task.Set("FAKE_NCCL_PIDS", tasks_[0]->gate().Path("pids"));
    }
  }
  ~NcclNodes() override {
    std::ifstream pids(tasks_[0]->gate().Path("pids"));
    for (pid_t pid; pids >> pid;) EXPECT_NE(kill(pid, 0), 0) << "rank " << pid << " is left";
  }

  Task& task(std::size_t i) { return *tasks_[i]; }
  void SetAll(const std::string& name, const std::string& value) {
    for (const auto& task : tasks_) task->Set(name, value);
  }
  // What each says; with other parameters of each.
  std::vector<CheckOutcome> Run(const std::string& fault, const std::string& of_second = "",
                                const std::string& of_first = "") {
    SetAll("FAKE_NCCL_FAULT", fault);
    std::vector<CheckOutcome> said(2);
    std::thread second([&] { said[1] = task(1).Run(of_second); });
    said[0] = task(0).Run(of_first);
    second.join();
    return said;
  }

  const int port_ = FreePort();
  std::vector<std::unique_ptr<Task>> tasks_;
};

TEST_F(NcclNodes, HealthyOnesPassAndTheirBandwidthIsMeasuredWhereTheMatrixAsks) {
  const std::vector<CheckOutcome> said = Run("", R"(, "bandwidth_mib": 1)", R"(, "bandwidth_mib": 1)");
  for (const CheckOutcome& r : said) {
    EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
    EXPECT_EQ(r.Measured("collectives"), 9);
    EXPECT_GT(r.Measured("all_reduce_busbw"), 0);
    EXPECT_EQ(r.Measured("all_reduce_busbw"), said[0].Measured("all_reduce_busbw")) << "one of all";
    for (const std::string name : {"all_reduce", "reduce", "broadcast"})
      EXPECT_DOUBLE_EQ(r.Measured(name + "_busbw"), r.Measured(name + "_algbw")) << name;
    for (const std::string name : {"reduce_scatter", "all_gather", "all_to_all"})
      EXPECT_DOUBLE_EQ(r.Measured(name + "_busbw"), r.Measured(name + "_algbw") / 2) << name;
  }
}

TEST_F(NcclNodes, ATaskThatDoesNotComeIsNamedAndAStrangerIsNotTakenForIt) {
  std::thread short_line(BeAStranger, port_, "nonce\tmac\t1\t2\t1\tb\tGPU-1\twhatever\n");
  std::thread flood(BeAStranger, port_, std::string(100'000, 'x'));
  task(0).join_s = 2;
  const CheckOutcome r = task(0).Run("");
  short_line.join(), flood.join();
  EXPECT_THAT(r.Slugs(), ElementsAre("nodes-missing")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("task 1 "), HasSubstr(":" + std::to_string(port_) + " ")));
}

TEST_F(NcclNodes, AFalseTask0IsNotFollowed) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Loopback(port_);
  const int again = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  std::thread false_one([&] {
    for (int fd; (fd = accept(listener, nullptr, nullptr)) >= 0; close(fd)) {
      const std::string challenge = "cudnn-ci-nodes/1\tnonce\n", answer = std::string(64, 'a') + "\t\n";
      send(fd, challenge.data(), challenge.size(), MSG_NOSIGNAL);
      char line[4096];
      recv(fd, line, sizeof line, 0);
      send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  });
  task(1).join_s = 2;
  const CheckOutcome r = task(1).Run("");
  shutdown(listener, SHUT_RDWR);
  false_one.join();
  close(listener);
  EXPECT_THAT(r.Slugs(), ElementsAre("nodes-missing")) << ::testing::PrintToString(r);
}

TEST_F(NcclNodes, WhatDoesNotFitIsToldByBoth) {
  task(1).join_s = 4;  // it tries until then
  for (const CheckOutcome& r : Run("", R"(, "algo": "ring")")) {
    EXPECT_THAT(r.Slugs(), ElementsAre("nodes-mismatch")) << ::testing::PrintToString(r);
    EXPECT_EQ(r.Blame(), "matrix");
    EXPECT_THAT(r.Detail(), HasSubstr("algo=ring"));
  }
}

TEST_F(NcclNodes, ARankOfAnotherNodeThatDiesIsNamedByBoth) {
  for (const CheckOutcome& r : Run("dies")) {
    EXPECT_THAT(r.Slugs(), ElementsAre("ranks-died")) << ::testing::PrintToString(r);
    EXPECT_THAT(r.Detail(), AllOf(HasSubstr("rank 1 (task 1 "), HasSubstr("signal 9 ")));
  }
}

TEST_F(NcclNodes, ATaskThatIsKilledEndsTheOthers) {
  std::vector<CheckOutcome> said = Run("kills_leader");
  EXPECT_EQ(said[1].Outcome(), "errored");
  EXPECT_THAT(said[0].Slugs(), ElementsAre("ranks-died")) << ::testing::PrintToString(said[0]);
  SetAll("FAKE_NCCL_LOST", "0");
  said = Run("kills_leader");
  EXPECT_EQ(said[0].Outcome(), "errored");
  EXPECT_THAT(said[1].Slugs(), ElementsAre("ranks-died")) << ::testing::PrintToString(said[1]);
}

// Each within its limit.
TEST_F(NcclNodes, AHangIsTheNetworksWhereEachNodeAloneIsRight) {
  for (const CheckOutcome& r : Run("never_calls")) {
    EXPECT_THAT(r.Slugs(), ElementsAre("nodes-hung")) << ::testing::PrintToString(r);
    EXPECT_EQ(r.Blame(), "runner");
  }
}

TEST_F(NcclNodes, APortThatIsTakenIsTheRunners) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Loopback(port_);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  const CheckOutcome r = task(0).Run("");
  EXPECT_THAT(r.Slugs(), ElementsAre("nodes-port-taken")) << ::testing::PrintToString(r);
  close(fd);
}

TEST_F(NcclNodes, AWayBetweenNodesIsToldFromTheLibrary) {
  SetAll("FAKE_NCCL_SOUND_BY", "NCCL_IB_DISABLE");
  for (const CheckOutcome& r : Run("lost_element")) {
    EXPECT_THAT(r.Slugs(), ElementsAre("nodes-link-wrong")) << ::testing::PrintToString(r);
    EXPECT_EQ(r.Blame(), "runner");
  }
  for (const CheckOutcome& r : Run("never_calls"))
    EXPECT_THAT(r.Slugs(), ElementsAre("nodes-link-hung")) << ::testing::PrintToString(r);
  SetAll("FAKE_NCCL_SOUND_BY", "");
  for (const CheckOutcome& r : Run("lost_element"))
    EXPECT_THAT(r.Slugs(), ElementsAre("nodes-wrong")) << ::testing::PrintToString(r);
  for (const CheckOutcome& r : Run("tail")) {
    EXPECT_THAT(r.Slugs(), ElementsAre("ranks-wrong")) << ::testing::PrintToString(r);
  }
}

TEST_F(NcclNodes, WithoutALauncherItIsSkipped) {
  SetAll("SLURM_PROCID", "");
  EXPECT_EQ(task(0).Run("").Skip("kind"), "absent");
}

}  // namespace
}  // namespace cudnn_ci
