// A plugin whose checks do nothing, so that what a benchmark measures is the harness alone.
#include <cudnn_ci/check.hpp>

namespace {

struct Params {
  std::int64_t i = 0;
};

// May share a worker with others of its kind.
struct Noop {
  using Params = ::Params;
  static void Describe(cudnn_ci::Schema<Params>& s) {
    s.Summary("does nothing").Shareable();
    s.Param("i", &Params::i).Default(0);
  }
  static void Run(cudnn_ci::Context&, const Params& p) { CCI_EXPECT_TRUE(p.i >= 0); }
};

// Gets a process each.
struct NoopAlone {
  using Params = ::Params;
  static void Describe(cudnn_ci::Schema<Params>& s) {
    s.Summary("does nothing, in a process of its own");
    s.Param("i", &Params::i).Default(0);
  }
  static void Run(cudnn_ci::Context&, const Params& p) { CCI_EXPECT_TRUE(p.i >= 0); }
};

}  // namespace

CCI_REGISTER(Noop, "noop")
CCI_REGISTER(NoopAlone, "noop_alone")
CCI_PLUGIN("bench", "1.0.0", "no-op checks for benchmarks")
