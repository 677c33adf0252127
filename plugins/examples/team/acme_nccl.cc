// The plugin `acme_nccl`, in C++: is NCCL there, and of the version that the image's programs need?
#include <cudnn_ci/check.hpp>
#include <cudnn_ci/late.hpp>

CCI_FINDING("nccl-unusable", CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE, "the image has no NCCL that can be used",
            "Install NCCL and keep its folder on the loader's path.",
            "https://docs.nvidia.com/deeplearning/nccl/install-guide/index.html")
CCI_FINDING("nccl-outside-promise", CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "the image's NCCL is outside what the matrix promises",
            "Install a version of NCCL that is promised, or change the promise.", nullptr)

namespace {

// 2.27.3 is 22703, and 2.8.4 was 2804: NCCL_VERSION in nccl.h.
std::string Dotted(int code) {
  const int major = code < 10000 ? code / 1000 : code / 10000;
  return std::to_string(major) + "." + std::to_string(code / 100 % (code < 10000 ? 10 : 100)) + "." +
         std::to_string(code % 100);
}

struct Version {
  struct Params {
    std::string at_least, below;
  };

  static void Describe(cudnn_ci::Schema<Params>& s) {
    s.Summary("NCCL is of a promised version").Layer(CCI_LAYER_FRAMEWORK).PerSubject();
    s.Param("at_least", &Params::at_least).Summary("the oldest version that will do");
    s.Param("below", &Params::below).Summary("the first version that will not").Default("3");
  }

  // Asked while the plan is made: what is no version is an error in the matrix, at its line.
  static void Validate(const Params& p, cudnn_ci::Problems& problems) {
    if (!problems.IsRange("=" + p.at_least)) problems.Add("at_least", p.at_least + " is not a version");
    if (!problems.IsRange("=" + p.below)) problems.Add("below", p.below + " is not a version");
  }

  static void Run(cudnn_ci::Context& ctx, const Params& p) {
    // By name and late: a plugin that is linked with NCCL could not say that it is missing.
    cudnn_ci::LateLibrary nccl;
    if (!nccl.Open("libnccl.so.2")) return ctx.Finding("nccl-unusable", nccl.error());
    auto* get_version = reinterpret_cast<int (*)(int*)>(nccl.Find("ncclGetVersion"));
    if (!get_version) return ctx.Finding("nccl-unusable", nccl.Path() + " has no ncclGetVersion");
    int code = 0;
    CCI_ASSERT_EQ(get_version(&code), 0) << nccl.Path();
    const std::string version = Dotted(code), promised = ">=" + p.at_least + " <" + p.below;
    if (!ctx.Satisfies(version, promised))
      ctx.Finding("nccl-outside-promise", "NCCL " + version + " found, " + promised + " promised");
    ctx.Log("NCCL " + version + " is " + nccl.Path());
  }
};

}  // namespace

CCI_REGISTER(Version, "version")
CCI_PLUGIN("acme_nccl", "1.0.0", "what our programs need of NCCL")
