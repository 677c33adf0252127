// A whole plugin over check.hpp: one check with one parameter.
#include <cudnn_ci/check.hpp>

struct Even {
  struct Params {
    std::int64_t n = 0;
  };
  static void Describe(cudnn_ci::Schema<Params>& s) {
    s.Summary("a number is even").Layer(CCI_LAYER_OTHER);
    s.Param("n", &Params::n).Default(42);
  }
  static void Run(cudnn_ci::Context&, const Params& p) { CCI_EXPECT_EQ(p.n % 2, 0) << "n = " << p.n; }
};

CCI_REGISTER(Even, "even")
CCI_PLUGIN("modern", "1.0.0", "a plugin in C++")
