// nccl.init: does a communicator of one rank come to be, say who it is, split, and end? NCCL's own sockets,
// threads and kernels are needed for that, and no other GPU. ncclCommAbort is left out: it takes a second.
#include <cudnn_ci/check.hpp>

#include <chrono>
#include <future>
#include <string>

#include "nccl/findings.h"
#include "nccl/nccl_session.h"

namespace cudnn_ci {
namespace {

constexpr double kMostSeconds = 20;  // for each call that goes on behind its return

// A communicator that goes on and on.
struct Hangs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Life {
 public:
  Life(Context& ctx, const NcclApi& nccl) : ctx_(ctx), nccl_(nccl) {}

  void Run() {
    const auto start = std::chrono::steady_clock::now();
    Begin();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    ctx_.Measure("nccl_init", elapsed.count(), "ms", CCI_GOAL_LOWER);
    JudgeIdentity(comm_, "the communicator");
    IfThere([&] { Split(); });
    IfThere([&] {
      ctx_.Step("ncclCommFinalize");
      for (const NcclApi::Comm comm : {part_, comm_})
        if (comm) Finalize(comm);
    });
    ctx_.Step("ncclCommDestroy");
    Destroy();
  }

 private:
  // A call that an older release does not have is left out.
  template <class Calls>
  void IfThere(const Calls& calls) {
    try {
      calls();
    } catch (const MissingSymbol& e) {
      ctx_.Log(std::string(e.what()) + ": left out");
    }
  }

  void Await(NcclApi::Comm comm, const char* call) {
    if (!nccl_.Wait(comm, call, kMostSeconds))
      throw Hangs(std::string(call) + " did not end within " +
                  std::to_string(static_cast<int>(kMostSeconds)) + " s; NCCL's last error: '" +
                  nccl_.LastError(comm) + "'");
  }

  void Begin() {
    ctx_.Step("ncclGetUniqueId");
    const NcclUniqueId id = nccl_.UniqueId();
    ctx_.Step("ncclCommInitRank");
    nccl_.Begin(1, id, 0, &comm_);
    Await(comm_, "ncclCommInitRank");
  }

  void JudgeIdentity(NcclApi::Comm comm, const char* whose) {
    const int count = nccl_.Count(comm), rank = nccl_.Rank(comm);
    if (count == 1 && rank == 0)
      CCI_EXPECT_TRUE(count == 1 && rank == 0);
    else
      ctx_.Finding(kNcclInitFailed, std::string(whose) + " of one rank reports rank " + std::to_string(rank) +
                                        " of " + std::to_string(count) + "; " + nccl_.Text());
  }

  void Split() {
    ctx_.Step("ncclCommSplit");
    nccl_.Split(comm_, 0, 0, &part_);
    Await(comm_, "ncclCommSplit");
    Await(part_, "ncclCommSplit");
    JudgeIdentity(part_, "the split communicator");
  }

  void Finalize(NcclApi::Comm comm) {
    nccl_.Finalize(comm);
    Await(comm, "ncclCommFinalize");
  }

  // Both at a time: each waits up to half a second for a thread of NCCL's own, which looks up that often.
  void Destroy() {
    std::future<void> of_part;
    if (part_) of_part = std::async(std::launch::async, [&] { nccl_.Destroy(part_); });
    nccl_.Destroy(comm_);
    if (part_) of_part.get();
  }

  Context& ctx_;
  const NcclApi& nccl_;
  NcclApi::Comm comm_ = nullptr, part_ = nullptr;
};

struct Init {
  struct Params {};

  static void Describe(Schema<Params>& s) {
    s.Summary("an NCCL communicator of one rank starts, splits and ends")
        .Layer(CCI_LAYER_FRAMEWORK)
        .Devices(CCI_DEVICES_ONE)
        .PerSubject()
        .Requires("nccl.load")
        .Requires("driver.canary")
        .TimeoutSeconds(60)
        .Shareable();  // with the collectives, whose context it makes
  }

  static void Run(Context& ctx, const Params&) {
    NcclSession& session = NcclSession::Get();
    const NcclApi& nccl = session.nccl();
    const std::string behind = "; " + nccl.Text();
    try {
      Life(ctx, nccl).Run();
      session.Synchronize();
    } catch (const Hangs& e) {
      ctx.Finding(kNcclInitHangs, e.what() + behind);
      ctx.Poison("a communicator of NCCL hangs");
    } catch (const NcclError& e) {
      const bool by_system = e.result() == kNcclSystemError;
      ctx.Finding(by_system ? kNcclRefusedBySystem : kNcclInitFailed, e.what() + behind);
      ctx.Poison("NCCL failed");
    } catch (const MissingSymbol& e) {
      ctx.Finding(kNcclInitFailed, e.what() + behind);
    }
  }
};

CCI_REGISTER(Init, "init")

}  // namespace
}  // namespace cudnn_ci
