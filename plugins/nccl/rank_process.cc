#include "nccl/rank_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "common/numeric/fill.h"
#include "common/numeric/parallel.h"
#include "common/numeric/same_bytes.h"
#include "compute/describe_result.h"
#include "nccl/collective_call.h"
#include "nccl/collective_data.h"
#include "nccl/nccl_session.h"

namespace cudnn_ci {
namespace {

using Clock = std::chrono::steady_clock;

// The share of the limit after which NCCL is asked for its last error.
constexpr double kAsksAfter = 0.7;
constexpr int kRuns = 2;
constexpr int kWarmUps = 2, kTimedRuns = 10;

class Rank {
 public:
  Rank(const RankJob& job, int rank, int device, int channel)
      : job_(job), rank_(rank), device_(device), channel_(channel) {}

  void Run() {
    try {
      Join();
      int judged = 0;
      for (const CollectiveSpec& spec : job_.calls) {
        if (!LacksFor(spec, nccl(), session_->ComputeCapability()).empty()) continue;
        Judge(spec);
        ++judged;
      }
      for (const CollectiveSpec& spec : job_.timed) Time(spec);
      Say(RankWord::kStep, "ncclCommFinalize");
      nccl().Finalize(comm_);
      Wait("ncclCommFinalize");
      nccl().Destroy(comm_);
      Say(RankWord::kDone, std::to_string(judged));
    } catch (const DriverError& e) {
      Say(e.result() == CUDA_ERROR_OUT_OF_MEMORY ? RankWord::kMemory : RankWord::kFailed, e.what());
    } catch (const std::exception& e) {
      Say(RankWord::kFailed, e.what());
    }
  }

 private:
  const NcclApi& nccl() const { return session_->nccl(); }

  void Say(RankWord word, std::string words) const {
    std::replace(words.begin(), words.end(), '\n', ' ');
    const std::string line = static_cast<char>(word) + words + '\n';
    // A leader that is gone ends this process by itself.
    for (std::size_t at = 0; at < line.size();) {
      const ssize_t n = send(channel_, line.data() + at, line.size() - at, MSG_NOSIGNAL);
      if (n <= 0) _exit(0);
      at += static_cast<std::size_t>(n);
    }
  }

  NcclUniqueId ReceiveId() const {
    NcclUniqueId id = {};
    for (std::size_t at = 0; at < sizeof id;) {
      const ssize_t n = read(channel_, id.bytes + at, sizeof id - at);
      if (n <= 0) _exit(0);
      at += static_cast<std::size_t>(n);
    }
    return id;
  }

  void Join() {
    if (job_.one_gpu) RequireSeveralRanksOnOneGpu();
    Say(RankWord::kStep, "cuInit and a context");
    session_ = &NcclSession::Get(job_.one_gpu ? 0 : device_);
    driver().Require(driver().StreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    if (rank_ == 0) {
      Say(RankWord::kLibrary, session_->LibraryText());
      Say(RankWord::kStep, "ncclGetUniqueId");
      SayId(nccl().UniqueId());
    }
    const NcclUniqueId id = ReceiveId();
    Say(RankWord::kStep, "ncclCommInitRank");
    nccl().Begin(job_.ranks, id, rank_, &comm_);
    Wait("ncclCommInitRank");
  }

  // Before anything is made on the GPU, which takes half a second.
  void RequireSeveralRanksOnOneGpu() const {
    NcclApi library;
    if (!library.Load()) throw std::runtime_error(library.error());
    int major = 0, minor = 0;
    std::sscanf(library.Version().c_str(), "%d.%d", &major, &minor);
    if (major > 2 || (major == 2 && minor >= 30)) return;
    Say(RankWord::kLacks,
        "several ranks on one GPU, which NCCL supports from 2.30 on, saw " + library.Text());
    _exit(0);
  }

  void SayId(const NcclUniqueId& id) const {
    static const char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const char byte : id.bytes) {
      text += kDigits[static_cast<unsigned char>(byte) >> 4];
      text += kDigits[static_cast<unsigned char>(byte) & 15];
    }
    Say(RankWord::kId, text);
  }

  const DriverApi& driver() const { return session_->driver(); }

  // For what NCCL does behind its call, and for the stream. The leader ends a process that waits for ever.
  void Wait(const char* call, std::chrono::microseconds pause = std::chrono::microseconds(50)) const {
    const auto asks = Clock::now() + std::chrono::duration<double>(job_.limit_s * kAsksAfter);
    bool asked = false;
    for (;;) {
      const bool called = nccl().IsDone(comm_, call);
      const CUresult ran = called ? driver().StreamQuery(stream_) : CUDA_ERROR_NOT_READY;
      if (ran == CUDA_SUCCESS) return;
      if (ran != CUDA_ERROR_NOT_READY) driver().Require(ran, call);
      if (!asked && Clock::now() > asks) {
        asked = true;
        Say(RankWord::kWaits, nccl().LastError(comm_));
      }
      std::this_thread::sleep_for(pause);
    }
  }

  // As nccl-tests does with --blocking 1: each run is waited for, so that one of a slow network is no hang.
  void Time(const CollectiveSpec& spec) {
    if (!LacksFor(spec, nccl(), session_->ComputeCapability()).empty()) return;
    const Operands operands = OperandsOf(spec, rank_);
    DeviceBuffers& memory = session_->memory();
    driver().Require(memory.Reserve({{"the input", operands.inputs[0].Bytes(), BufferSpec::Role::kInput},
                                     {"the output", operands.outputs[0].Bytes(), BufferSpec::Role::kInput}}),
                     "cuMemAlloc");
    std::chrono::duration<double> took{};
    for (int run = 0; run < kWarmUps + kTimedRuns; ++run) {
      Say(RankWord::kStep, spec.Text() + ", timed");
      const Clock::time_point start = Clock::now();
      CallCollective(spec, rank_, nccl(), comm_, driver(), memory.Pointer(0), memory.Pointer(1), stream_);
      Wait(spec.Call(), std::chrono::microseconds(0));
      if (run >= kWarmUps) took += Clock::now() - start;
    }
    char words[160];
    std::snprintf(words, sizeof words, "%s %.0f %.9g %.9g", spec.Name(), spec.MostBytes(), BusFactor(spec),
                  took.count() / kTimedRuns);
    Say(RankWord::kTime, words);
  }

  void Judge(const CollectiveSpec& spec) {
    Say(RankWord::kStep, spec.Text());
    const CollectiveData data(spec, rank_);
    const Operands operands = OperandsOf(spec, rank_);
    const Operand &input = operands.inputs[0], &output = operands.outputs[0];
    const std::vector<BufferSpec> buffers = {
        {input.name, input.Bytes(), BufferSpec::Role::kInput},
        {output.name, output.Bytes(), BufferSpec::Role::kOutput, UnwrittenWord(output.type)}};
    DeviceBuffers& memory = session_->memory();
    driver().Require(memory.Reserve(buffers), "cuMemAlloc");
    std::vector<unsigned char> sent(input.Bytes()), got(std::max(input.Bytes(), output.Bytes()));
    data.Encode(0, sent.data());
    if (!sent.empty()) memory.Upload(0, sent.data());
    std::string wrong;
    // A rank that is wrong goes on as the others do.
    for (int run = 0; run < kRuns; ++run) {
      memory.FillAgain(1, UnwrittenWord(output.type));
      session_->Synchronize();
      CallCollective(spec, rank_, nccl(), comm_, driver(), memory.Pointer(0), memory.Pointer(1), stream_);
      Wait(spec.Call());
      if (!wrong.empty()) continue;
      wrong = WrongIn(spec, data, sent, &got);
      if (!wrong.empty() && run > 0) wrong += ", in a repeated run";
    }
    if (!wrong.empty()) Say(RankWord::kWrong, spec.Text() + ": " + wrong);
  }

  // Empty: the result is right, and nothing else was written.
  std::string WrongIn(const CollectiveSpec& spec, const CollectiveData& data,
                      const std::vector<unsigned char>& sent, std::vector<unsigned char>* got) const {
    const Operand output = OperandsOf(spec, rank_).outputs[0];
    DeviceBuffers& memory = session_->memory();
    if (output.Bytes() > 0) {
      memory.Download(1, got->data());
      const Judgement judged = data.Judge(0, 0, got->data());
      if (judged.unwritten > 0) return DescribeUnwritten(judged, data.Place(judged.first_unwritten));
      if (judged.wrong > 0) {
        const std::string why = data.Explain(got->data());
        return DescribeWrong(judged, data.Place(judged.first_wrong), 0) + (why.empty() ? "" : "; " + why);
      }
    }
    if (std::string guards = memory.TouchedGuards(); !guards.empty()) return guards;
    if (sent.empty()) return "";
    memory.Download(0, got->data());
    const std::size_t changed = FirstDifference(got->data(), sent.data(), sent.size());
    return changed < sent.size() ? "the input changed at byte " + std::to_string(changed) : "";
  }

  const RankJob& job_;
  const int rank_, device_, channel_;
  NcclSession* session_ = nullptr;
  NcclApi::Comm comm_ = nullptr;
  CUstream stream_ = nullptr;
};

}  // namespace

void RunRank(const RankJob& job, int rank, int device, int channel) {
  // A crash is the leader's to tell, by how the process ended.
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGTERM})
    signal(number, SIG_DFL);
  for (const auto& [name, value] : job.environment) setenv(name.c_str(), value.c_str(), 1);
  // Helpers of the leader's process are not in this one, and ranks share the processors.
  LimitCpus(1);
  Rank(job, rank, device, channel).Run();
  _exit(0);
}

}  // namespace cudnn_ci
