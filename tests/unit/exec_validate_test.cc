// Parameters judged by plugins while the run is planned: in a process of their own, whatever the hook does.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "exec/plugins/validate.h"
#include "exec/system/plugin_file.h"
#include "exec/system/process_posix.h"
#include "golden_messages.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CasePlanned Planned(int64_t n, int64_t by, const std::string& how = "judge") {
  CasePlanned c;
  c.check = "fixture.divides";
  c.plugin = "fixture";
  c.ref.id = "fixture.divides[by=" + std::to_string(by) + ",how=" + how + ",n=" + std::to_string(n) + "]";
  c.params = {{"n", n}, {"by", by}, {"how", how}};
  return c;
}

std::vector<const CasePlanned*> Pointers(const std::vector<CasePlanned>& cases) {
  std::vector<const CasePlanned*> pointers;
  for (const CasePlanned& c : cases) pointers.push_back(&c);
  return pointers;
}

constexpr int64_t kSecond = 1'000'000'000;

class ValidateWorkerTest : public testing::Test {
 protected:
  ValidateWorkerTest() {
    worker_.OnStarted(
        1, [] { return std::string("evidence"); }, 0);
    worker_.Ask(wire::Configure{}, 0, &effects_);
  }
  void Say(const wire::FromWorker& m, int64_t now = 0) { worker_.OnPacket(wire::Encode(m), now, &effects_); }
  void Exit(bool signaled, int code) { worker_.OnExit({signaled, code, false}, false, 0, &effects_); }
  size_t Sent() const {
    size_t packets = 0;
    for (const Effect& e : effects_) packets += std::holds_alternative<SendPacket>(e) ? 1 : 0;
    return packets;
  }
  std::vector<CasePlanned> cases_ = std::vector<CasePlanned>(100, Planned(12, 4));
  ValidateWorker worker_{Pointers(cases_), 10, 5, WorkerLimits{}};
  Effects effects_;
};

TEST_F(ValidateWorkerTest, AsksAheadAndKeepsTheAnswersInOrder) {
  EXPECT_EQ(Sent(), 1u + 32u);
  for (int64_t i = 1; i <= 100; ++i) {
    wire::Validated answer;
    answer.serial = i;
    if (i == 50) answer.problems = {{"by", "too\nlarge"}};
    Say(answer);
  }
  EXPECT_EQ(Sent(), 1u + 100u + 1u) << "configure, questions, shutdown";
  Exit(false, 0);
  EXPECT_EQ(worker_.error(), nullptr);
  EXPECT_THAT(worker_.invalid()[48], IsEmpty());
  ASSERT_THAT(worker_.invalid()[49], SizeIs(1));
  EXPECT_EQ(worker_.invalid()[49][0].parameter, "by");
  EXPECT_EQ(worker_.invalid()[49][0].why, "too large");
}

TEST_F(ValidateWorkerTest, AnExitBeforeTheLastAnswerIsAnError) {
  Say(wire::Validated{1, {}, ""});
  Exit(false, 0);
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_THAT(GoldenMessages("exec.txt").Row("exit 0", worker_.error()->detail),
              HasSubstr(" fixture.divides["));
}

TEST_F(ValidateWorkerTest, AnswersOutOfTurnAreGarbage) {
  Say(wire::Validated{2, {}, ""});
  EXPECT_NE(worker_.termination(), nullptr);
}

TEST_F(ValidateWorkerTest, AMessageOfACaseIsGarbage) {
  Say(wire::CaseStarted{1});
  EXPECT_NE(worker_.termination(), nullptr);
}

TEST_F(ValidateWorkerTest, AHookThatFailsIsAnErrorWhateverItsExit) {
  Say(wire::Validated{1, {}, "an exception: x"});
  Exit(false, 0);
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_THAT(worker_.error()->detail, HasSubstr("exception: x"));
}

TEST_F(ValidateWorkerTest, ACrashIsAnErrorWhateverTheAnswersAndTheExit) {
  Crash crash;
  crash.signal = SIGSEGV;
  Say(wire::Crashed{crash});
  for (int64_t i = 1; i <= 100; ++i) Say(wire::Validated{i, {}, ""});
  Exit(false, 0);
  ASSERT_NE(worker_.error(), nullptr);
  EXPECT_EQ(worker_.error()->kind, ErrorKind::kCrashed);
}

TEST_F(ValidateWorkerTest, EachAnswerHasItsTime) {
  worker_.OnTick(9 * kSecond, &effects_);
  EXPECT_EQ(worker_.termination(), nullptr);
  Say(wire::Validated{1, {}, ""}, 9 * kSecond);
  worker_.OnTick(13 * kSecond, &effects_);
  EXPECT_EQ(worker_.termination(), nullptr);
  worker_.OnTick(14 * kSecond, &effects_);
  ASSERT_NE(worker_.termination(), nullptr);
  EXPECT_EQ(worker_.termination()->kind, ErrorKind::kTimedOut);
}

// With the real worker and plugin.
class ValidateTest : public testing::Test {
 protected:
  ValidateTest() {
    sigemptyset(&set_);
    for (const int s : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&set_, s);
    sigprocmask(SIG_BLOCK, &set_, nullptr);
    signal_fd_ = Fd(signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    PluginInfo fixture;
    fixture.name = "fixture";
    fixture.path = FIXTURE_PLUGIN;
    fixture.file =
        FindPluginFiles({std::string(FIXTURE_PLUGIN).substr(0, std::string(FIXTURE_PLUGIN).rfind('/'))})
            .front()
            .identity;
    catalog_.plugins = {fixture};
    options_.worker_path = WORKER;
    options_.scratch_dir = scratch_.path();
    options_.hook_timeout_s = options_.load_timeout_s = 1;
  }
  Validation Judge(const std::vector<CasePlanned>& cases) {
    PosixProcessControl control;
    return ValidateParameters(options_, catalog_, Pointers(cases), &control, signal_fd_.get(), &interrupted_);
  }
  sigset_t set_{};
  Fd signal_fd_;
  const Scratch scratch_;
  Catalog catalog_;
  ValidateOptions options_;
  int interrupted_ = 0;
};

TEST_F(ValidateTest, TellsWhatThePluginFinds) {
  const Validation v = Judge({Planned(12, 4), Planned(12, 5), Planned(7, 7), Planned(7, 2)});
  EXPECT_THAT(v.failed, IsEmpty());
  ASSERT_THAT(v.invalid, SizeIs(4));
  EXPECT_THAT(v.invalid[0], IsEmpty());
  ASSERT_THAT(v.invalid[1], SizeIs(1));
  EXPECT_EQ(v.invalid[1][0].parameter, "by");
  EXPECT_EQ(v.invalid[1][0].why, "5 does not divide 12");
  EXPECT_THAT(v.invalid[2], IsEmpty());
  EXPECT_THAT(v.invalid[3], SizeIs(1));
}

TEST_F(ValidateTest, AHookThatMisbehavesIsThePluginsFailure) {
  for (const char* how : {"throw", "expect", "crash", "hang"}) {
    const Validation v = Judge({Planned(12, 4), Planned(12, 4, how), Planned(12, 5)});
    ASSERT_THAT(v.failed, SizeIs(1)) << how;
    EXPECT_EQ(v.failed[0].stem, "fixture");
    EXPECT_EQ(v.failed[0].slug, "plugin-load");
    EXPECT_THAT(v.failed[0].reason, HasSubstr(std::string("how=") + how)) << how;
  }
}

TEST_F(ValidateTest, ProblemsWithoutNumberAreBounded) {
  const Validation v = Judge({Planned(12, 4, "flood")});
  EXPECT_THAT(v.failed, IsEmpty());
  ASSERT_THAT(v.invalid, SizeIs(1));
  EXPECT_LE(v.invalid[0].size(), 32u);
}

TEST_F(ValidateTest, APluginFileThatChangedIsNotAsked) {
  ++catalog_.plugins[0].file.size;  // it would load and answer
  const Validation v = Judge({Planned(12, 4)});
  ASSERT_THAT(v.failed, SizeIs(1));
  const std::string& path = catalog_.plugins[0].path;
  EXPECT_THAT(GoldenMessages("exec.txt", {{path, "PLUGIN"}}).Row("another size", v.failed[0].reason),
              HasSubstr(path));
}

// chmod and a hard link change the time alone; the hash says whether what was described is there still.
TEST_F(ValidateTest, APluginFileOfAnotherTimeIsHashed) {
  ++catalog_.plugins[0].file.changed_ns;
  EXPECT_THAT(Judge({Planned(12, 4)}).failed, IsEmpty());
  catalog_.plugins[0].file.sha256[0] ^= 1;
  EXPECT_THAT(Judge({Planned(12, 4)}).failed, SizeIs(1));
}

TEST_F(ValidateTest, ThousandsAreAsked) {
  std::vector<CasePlanned> cases;
  for (int64_t i = 0; i < 5000; ++i) cases.push_back(Planned(i, 3));
  const Validation v = Judge(cases);
  EXPECT_THAT(v.failed, IsEmpty());
  for (size_t i = 0; i < cases.size(); ++i) ASSERT_EQ(v.invalid[i].empty(), i % 3 == 0) << i;
}

}  // namespace
}  // namespace cudnn_ci
