// A process that speaks the wire protocol at random, against the real runner and pool: whatever it sends, at
// whatever moment, and however it ends, the run ends too, and is green only if every case was answered
// honestly and nothing else went wrong.
//
//   pool_fuzz --seconds N --seed S    rounds until the time is up; a finding aborts and names its round
//
// The harness starts this same program as its worker. What a worker does is drawn from the round's seed and
// the worker's number, and written down before it is done: 'R' for what must make the run red, 'E' for what
// may.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "exec/schedule/runner.h"
#include "exec/system/plugin_file.h"
#include "exec/system/process_posix.h"
#include "fuzz_target.h"
#include "model/verdict/verdict.h"
#include "wire/socket.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr int kControl = 3;
constexpr unsigned kRoundLimitS = 90;  // of wall clock, on a loaded machine

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t Below(size_t bound) { return engine_() % bound; }
  bool OneIn(size_t n) { return Below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

// ---- the worker ----

class FuzzWorker {
 public:
  int Serve() {
    Say(wire::Hello{wire::kVersion, getpid()});
    std::string packet;
    while (wire::Receive(kControl, &packet) == wire::Io::kOk) {
      const Result<wire::ToWorker> message = wire::DecodeToWorker(packet);
      if (!message.ok()) _exit(70);
      if (const auto* c = std::get_if<wire::Configure>(&*message)) Seed(c->scratch_dir);
      if (std::holds_alternative<wire::Canary>(*message)) Canary();
      if (const auto* run = std::get_if<wire::Run>(&*message); run && clean_) Run(*run);
      if (std::holds_alternative<wire::Shutdown>(*message)) break;
    }
    return End();
  }

 private:
  static void Raw(const std::string& packet) {
    (void)!send(kControl, packet.data(), packet.size(), MSG_NOSIGNAL);
  }
  static void Say(const wire::FromWorker& m) { Raw(wire::Encode(m)); }
  // The folder's name ends in the worker's number.
  void Seed(const std::string& scratch) {
    const char* seed = getenv("POOL_FUZZ_SEED");
    random_.emplace(strtoull(seed ? seed : "0", nullptr, 10) * 1000 +
                    strtoull(scratch.substr(scratch.rfind('-') + 1).c_str(), nullptr, 10));
  }
  static void Note(char what) {
    const int fd = open(getenv("POOL_FUZZ_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (write(fd, &what, 1) != 1) _exit(71);
    close(fd);
  }
  [[noreturn]] static void Hang(bool polite) {
    if (polite)
      signal(SIGTERM, [](int) { _exit(0); });
    else
      signal(SIGTERM, SIG_IGN);
    for (;;) pause();
  }
  void Flood() {
    const std::string block(1 << 16, 'x');
    for (int i = 0; i < 40; ++i) (void)!write(1, block.data(), block.size());
  }

  void Canary() {
    if (!random_->OneIn(4)) return Say(wire::CanaryDone{true, ""});
    Note('E');  // the case before it was red already
    if (random_->OneIn(2)) return Say(wire::CanaryDone{false, "computes wrong"});
    raise(SIGKILL);
  }

  // One packet that no honest worker sends here.
  std::string Nonsense(int64_t serial) {
    std::string packet = wire::Encode(wire::FromWorker(wire::Step{serial, "step", false}));
    switch (random_->Below(7)) {
      case 0:
        return "garbage";
      case 1:
        return std::string(wire::kMaxPacket + 1 + random_->Below(1000), 'x');
      case 2:
        return wire::Encode(wire::FromWorker(wire::Step{serial + 2, "stale", false}));
      case 3:
        return wire::Encode(wire::FromWorker(wire::DescribeEnd{}));
      case 4:
        return wire::Encode(wire::FromWorker(wire::CanaryDone{true, ""}));
      case 5:
        return packet.substr(0, packet.size() / 2);
      default:
        return wire::Encode(wire::FromWorker(wire::Hello{wire::kVersion + 1, 1}));
    }
  }

  void Pass(int64_t serial) {
    Say(wire::CaseStarted{serial});
    for (size_t i = random_->Below(3); i > 0; --i) Say(wire::Step{serial, "step", random_->OneIn(2)});
    wire::CaseFinished f;
    f.serial = serial;
    f.evaluated = 1;
    Say(f);
    ++passed_;
  }

  void Run(const wire::Run& run) {
    if (!random_->OneIn(8)) return Pass(run.serial);
    if (random_->OneIn(6)) return Flip(run.serial);
    Note('R');
    wire::CaseFinished f;
    f.serial = run.serial;
    f.evaluated = 1;
    switch (random_->Below(16)) {
      case 0:
        Say(wire::Expectation{run.serial, "a.cc", 1, "wrong"});
        return Say(f);
      case 1:
        f.skip.emplace();
        return Say(f);
      case 2:
        f.evaluated = 0;
        return Say(f);
      case 3:
        Say(wire::FindingSaid{run.serial, "nobody-declared-it", "x"});
        return Say(f);
      case 4:
        f.context_error = "broken";
        clean_ = false;
        return Say(f);
      case 5:
        _exit(0);
      case 6:
        _exit(3);
      case 7:
        raise(SIGKILL);
        break;
      case 8:
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
        break;
      case 9:
        Hang(random_->OneIn(2));
      case 10:
        close(kControl);
        Hang(random_->OneIn(2));
      case 11:  // twice the same verdict
        Say(f);
        return Say(f);
      case 12:  // another word after it
        Say(f);
        return Say(wire::Expectation{run.serial, "a.cc", 1, "late"});
      case 13:
        Flood();
        return Pass(run.serial);
      case 14:
        Pass(run.serial);
        return Raw(Nonsense(run.serial));
      default:
        Raw(Nonsense(run.serial));
        return Pass(run.serial);
    }
  }

  // A bit of an honest verdict is turned, or it comes with a leak: what that makes of it is open.
  void Flip(int64_t serial) {
    Note('E');
    wire::CaseFinished f;
    f.serial = serial;
    f.evaluated = 1;
    f.leaked = random_->OneIn(2);
    std::string packet = wire::Encode(wire::FromWorker(f));
    if (f.leaked)
      clean_ = false;
    else
      packet[random_->Below(packet.size())] ^= static_cast<char>(1 << random_->Below(8));
    Say(wire::CaseStarted{serial});
    Raw(packet);
  }

  int End() {
    if (!clean_ || !random_ || !random_->OneIn(10)) return 0;
    const size_t how = random_->Below(4);
    // A process that ran nothing has nothing to answer for but what it is ended for.
    Note(how >= 2 || passed_ > 0 ? 'R' : 'E');
    if (how == 0) return 3;
    if (how == 1) raise(SIGKILL);
    if (how == 2) Hang(true);
    Raw("garbage");
    return 0;
  }

  std::optional<Random> random_;
  bool clean_ = true;
  int passed_ = 0;
};

// ---- a round ----

struct Round {
  Plan plan;
  RunnerOptions options;
  Catalog catalog;
};

Round Draw(Random* random, const std::string& folder, const std::string& self) {
  Round r;
  const size_t count = 1 + random->Below(30);
  const bool device = random->OneIn(2);
  for (size_t i = 0; i < count; ++i) {
    Case c;
    c.planned.check = "fuzz.check";
    c.planned.ref = {"fuzz.check[i=" + std::to_string(i) + "]", device ? "gpu0" : ""};
    c.planned.plugin = "fuzz";
    c.planned.timeout_s = 0.3;
    c.planned.entry = 0;
    c.shareable = random->Below(3) > 0;
    if (device) c.devices = Devices::kOne;
    if (i > 0 && random->OneIn(5)) c.prerequisites = {random->Below(i)};
    r.plan.cases.push_back(std::move(c));
  }
  if (device) r.options.devices = {{"gpu0", "GPU-0", "", ""}};
  r.options.worker_path = self;
  r.options.scratch_dir = folder + "/scratch";
  r.options.jobs = static_cast<int>(1 + random->Below(3));
  r.options.retries = static_cast<int>(random->Below(2));
  r.options.isolation = random->OneIn(4) ? Isolation::kProcess : Isolation::kShared;
  r.options.limits.grace_s = 0.1;
  r.options.limits.exit_s = 0.3;
  r.options.limits.output_bytes = 2 << 20;
  const std::vector<PluginFile> files = FindPluginFiles({folder});
  r.catalog.plugins.resize(1);
  r.catalog.plugins[0].name = "fuzz";
  r.catalog.plugins[0].path = files.at(0).path;
  r.catalog.plugins[0].file = files.at(0).identity;
  return r;
}

// Returns the verdict of the round; `noted`: what its workers did.
Verdict Play(const Round& r, int signal_fd, std::string* noted) {
  Fold fold;
  int64_t seq = 0;
  const auto emit = [&](const EventBody& body) { fold.Apply({++seq, 0, body}); };
  RunStarted started;
  started.timestamp = "2026-01-31T10:00:00Z";
  emit(started);
  for (const Case& c : r.plan.cases) emit(c.planned);
  emit(PlanEnd{static_cast<int64_t>(r.plan.cases.size()), ""});
  PosixProcessControl control;
  Runner(r.plan, r.catalog, r.options, fold.summary(), {emit, [] {}}, &control, signal_fd).Run();
  for (const Finding& f : RunLevelFindings(fold.summary())) emit(FindingReported{{}, f});
  emit(RunFinished{});
  std::ostringstream text;
  text << std::ifstream(getenv("POOL_FUZZ_LOG")).rdbuf();
  *noted = text.str();
  return Judge(fold.summary());
}

int Fuzz(double seconds, uint64_t seed, const std::string& self) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const Fd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  std::string folder = (fs::temp_directory_path() / "cudnn-ci-pool.XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;
  std::ofstream(folder + "/fuzz.cci.so") << "a worker of ours loads nothing";
  const time_t end = time(nullptr) + static_cast<time_t>(seconds);
  size_t rounds = 0, green = 0;
  do {
    const uint64_t round_seed = seed + rounds++;
    Random random(round_seed);
    fs::create_directory(folder + "/scratch");
    std::ofstream(folder + "/log") << std::flush;
    setenv("POOL_FUZZ_SEED", std::to_string(round_seed).c_str(), 1);
    setenv("POOL_FUZZ_LOG", (folder + "/log").c_str(), 1);
    alarm(kRoundLimitS);  // its default action ends us: stuck
    std::string noted;
    const Round round = Draw(&random, folder, self);
    const Verdict verdict = Play(round, signals.get(), &noted);
    alarm(0);
    const bool passed = verdict.kind == VerdictKind::kPassed;
    const std::string what = "round --seed " + std::to_string(round_seed) + ", noted '" + noted + "'";
    Require(!passed || noted.find('R') == std::string::npos, "what must be red is not green", what);
    Require(passed || !noted.empty(), "what is honest is green",
            what + (verdict.root_cause
                        ? ": " + verdict.root_cause->finding.slug + ": " + verdict.root_cause->finding.detail
                        : ""));
    Require(fs::is_empty(folder + "/scratch"), "scratch folders are removed", what);
    green += passed ? 1 : 0;
  } while (time(nullptr) < end);
  fs::remove_all(folder);
  printf("%zu rounds from --seed %llu, %zu of them green\n", rounds, static_cast<unsigned long long>(seed),
         green);
  return 0;
}

}  // namespace
}  // namespace cudnn_ci

int main(int argc, char** argv) {
  if (argc >= 2 && argv[1][0] != '-') return cudnn_ci::FuzzWorker().Serve();
  double seconds = 5;
  uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--seconds") == 0) seconds = strtod(argv[i + 1], nullptr);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], nullptr, 10);
  }
  printf("seed %llu\n", static_cast<unsigned long long>(seed));
  fflush(stdout);
  return cudnn_ci::Fuzz(seconds, seed, std::filesystem::canonical("/proc/self/exe"));
}
