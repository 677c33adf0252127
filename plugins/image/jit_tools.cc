// image.jit_tools: is what the packages need to compile device code at run time in the image? Told from
// files; nothing of the image is run.
#include <cudnn_ci/facts.h>
#include <unistd.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>

#include "common/judge.h"
#include "common/known_regressions.h"
#include "image/contents/components.h"
#include "image/findings.h"
#include "image/jit_tools_needs.h"
#include "image/known_faults_scope.h"
#include "image/subject_files.h"

namespace cudnn_ci {
namespace {

struct JitToolsParams {
  std::vector<std::string> gpus, require;
};

std::map<std::string, std::string> OwnVariables(Context& ctx) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    if (const std::size_t equals = text.find('='); equals != std::string::npos)
      variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  variables["LD_LIBRARY_PATH"] = UsersLibraryPath(variables["LD_LIBRARY_PATH"], ctx.SubjectFolders());
  return variables;
}

// What is promised: cards, by the first toolkit that compiles for each.
std::map<std::string, std::string> PromisedCards(Context& ctx, const std::vector<std::string>& gpus) {
  const TableEntry entry = [&ctx](const std::string& key) { return ctx.Compatibility(key); };
  const Satisfies satisfies = [&ctx](const std::string& v, const std::string& range) {
    return ctx.Satisfies(v, range);
  };
  std::map<std::string, std::string> cards;
  for (const std::string& gpu :
       gpus.empty() ? PromisedGpus(ctx.Contract("runner.compute_capability"), entry, satisfies) : gpus)
    cards[gpu] = entry(CCI_COMPATIBILITY_FIRST_TOOLKIT + gpu);
  return cards;
}

const char* StateWord(ToolState state) {
  switch (state) {
    case ToolState::kPresent:
      return "present";
    case ToolState::kMissing:
      return "missing";
    case ToolState::kTooOld:
      return "too old";
    case ToolState::kUnusable:
      return "unusable";
    case ToolState::kUnknown:
      break;
  }
  return "not tested";
}

const char* SlugOf(ToolState state) {
  if (state == ToolState::kTooOld) return kJitPtxasTooOld;
  return state == ToolState::kUnusable ? kJitCacheUnusable : kJitToolMissing;
}

// The judgements of a run, and the table of them.
class Report {
 public:
  explicit Report(Context* ctx) : ctx_(ctx) {}

  void Add(const JitFeature& feature, const JitNeed& need, const ToolLook& look) {
    table_ += feature.name + " (" + feature.package + "): " + StateWord(look.state) + ": " + look.text +
              ", for " + need.used_for + " (" + need.source + ")\n";
    if (look.state == ToolState::kUnknown) return;
    if (look.state == ToolState::kPresent) {
      CCI_EXPECT_TRUE(true) << look.text;
      return;
    }
    const std::string text = feature.name + " of " + feature.package + ": " + look.text + "; needed for " +
                             need.used_for + (feature.why.empty() ? "" : "; used by " + feature.why);
    if (feature.ordinary && need.always)
      ctx_->Finding(SlugOf(look.state), text);
    else
      limited_ += (limited_.empty() ? "" : "; ") + text;
  }

  void AddMissing(const std::string& text) {
    table_ += text + "\n";
    ctx_->Finding(kJitToolMissing, text);
  }

  // One warning for all: a summary shows the first of each kind.
  void Finish() {
    if (!limited_.empty()) {
      CCI_EXPECT_TRUE(true) << "nothing that is required is missing";
      ctx_->Finding(kJitFeatureLimited, limited_);
    }
    if (!table_.empty()) ctx_->Attach("jit-tools.txt", "text/plain", table_);
  }

 private:
  Context* ctx_;
  std::string table_, limited_;
};

struct JitTools {
  using Params = JitToolsParams;
  static void Describe(Schema<Params>& s) {
    s.Summary(
         "packages that compile device code at run time have what they need: compilers, ptxas, libdevice")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .TimeoutSeconds(120);
    s.Param("gpus", &Params::gpus)
        .Summary("promised compute capabilities; if empty, those of runner.compute_capability")
        .Default({});
    s.Param("require", &Params::require)
        .Summary("features that must work; what a package needs in ordinary use is always required")
        .OneOf({"triton", "torch.compile", "torch.cpp_extension", "numba.cuda", "cupy", "jax",
                "tensorflow.xla", "flashinfer"})
        .Default({});
  }
  static void Validate(const Params& p, Problems& problems) {
    for (const std::string& gpu : p.gpus)
      if (ReleaseOf(gpu) != gpu || !problems.IsRange("=" + gpu))
        problems.Add("gpus", "\"" + gpu + "\" is not a compute capability such as \"9.0\"");
  }
  static void Run(Context& ctx, const Params& p) {
    const ImageFiles image = FilesOfSubject(ctx);
    for (const std::string& problem : image.problems) ctx.Log(problem, CCI_LOG_WARNING);
    const JitPlaces places(image, OwnVariables(ctx));
    const JitRules rules = ReadJitRules([&ctx](const std::string& key) { return ctx.Compatibility(key); });
    const std::vector<JitFeature> features = JitFeaturesOf(rules, image, p.require);
    const std::map<std::string, std::string> cards = PromisedCards(ctx, p.gpus);
    const Satisfies satisfies = [&ctx](const std::string& v, const std::string& range) {
      return ctx.Satisfies(v, range);
    };
    Report report(&ctx);
    for (const JitFeature& feature : features)
      for (const JitNeed& need : NeedsOf(rules, feature, satisfies))
        report.Add(feature, need, places.Look(need.tool, cards));
    for (const std::string& name : p.require)
      if (std::none_of(features.begin(), features.end(), [&](const JitFeature& f) { return f.name == name; }))
        report.AddMissing(name + " is required, but no package with it is installed");
    const JitPlaces::NvrtcLook nvrtc = places.LookAtNvrtc();
    for (const std::string& text : nvrtc.lacking) report.AddMissing("NVRTC: " + text);
    if (nvrtc.found > nvrtc.lacking.size()) CCI_EXPECT_TRUE(true) << "an NVRTC has its builtins";
    if (features.empty() && p.require.empty() && nvrtc.found == 0)
      ctx.Skip(CCI_SKIP_ABSENT, "a package that compiles device code at run time, or NVRTC",
               "none among " + std::to_string(image.packages.packages().size()) + " packages");
    report.Finish();
  }
};

CCI_REGISTER(JitTools, "jit_tools")

}  // namespace
}  // namespace cudnn_ci
