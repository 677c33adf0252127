// image.known_faults: are the installed releases known to fail on what the matrix promises? By versions
// alone; nothing is loaded.
#include <cudnn_ci/facts.h>
#include <sys/utsname.h>
#include <cudnn_ci/check.hpp>

#include <algorithm>

#include "common/joined.h"
#include "image/findings.h"
#include "image/known_faults_scope.h"
#include "image/subject_components.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostFindings = 20, kMostNamed = 6;  // the attachment has all

struct KnownFaultsParams {
  std::vector<std::string> gpus, dtypes, operations, fail_on;
};

FaultScope ScopeOf(const Context& ctx, const KnownFaultsParams& p, const SubjectComponents& subject,
                   const TableEntry& entry, const Satisfies& satisfies) {
  FaultScope scope{p.gpus, p.dtypes, p.operations, p.fail_on, "", {}};
  if (scope.gpus.empty())
    scope.gpus = PromisedGpus(ctx.Contract("runner.compute_capability"), entry, satisfies);
  // Nobody says which processor a bill of materials is about.
  if (utsname machine{}; !subject.from_sbom && uname(&machine) == 0) scope.processor = machine.machine;
  for (const Component& component : subject.components)
    if (component.library == kCublas && !component.version.empty()) scope.cublas.push_back(component.version);
  return scope;
}

// A fault of an installed library.
struct InstalledFault {
  Component component;
  KnownRegression row;

  std::string Text() const {
    return component.library + " " + component.version + " (" + component.origin + "), " + row.id + ": " +
           row.Text();
  }
  // Without the source, which the attachment has.
  std::string Short() const {
    const std::string remedy = row.Remedy();
    return component.library + " " + component.version + " (" + component.origin + "): " + row.what + " (" +
           row.id + "; " + row.effect + "; " + row.confidence + (remedy.empty() ? "" : "; " + remedy) + ")";
  }
};
using Faults = std::vector<InstalledFault>;

// What is sure comes first, and of that what nobody notices.
int RankOf(const InstalledFault& fault) {
  const std::vector<std::string> confidences = {"sure", "likely", "unsure"},
                                 effects = {"wrong", "overwrite", "crash", "hang"};
  const auto place = [](const std::vector<std::string>& words, const std::string& word) {
    return static_cast<int>(std::find(words.begin(), words.end(), word) - words.begin());
  };
  return place(confidences, fault.row.confidence) * 10 + place(effects, fault.row.effect);
}

void Sort(Faults* faults) {
  std::stable_sort(faults->begin(), faults->end(),
                   [](const InstalledFault& a, const InstalledFault& b) { return RankOf(a) < RankOf(b); });
}

// What is said of all libraries, by weight.
struct Said {
  Faults red, warned, listed, idle;
};

void ReportRed(Context& ctx, const Faults& red) {
  for (std::size_t i = 0; i < red.size() && i < kMostFindings; ++i)
    ctx.Finding(kKnownFaultPromised, red[i].Text());
  if (red.size() > kMostFindings)
    ctx.Finding(kKnownFaultPromised,
                std::to_string(red.size() - kMostFindings) + " more are in known-faults.txt");
}

// One warning for all: a summary shows the first of each kind.
void Warn(Context& ctx, const Faults& warned) {
  if (warned.empty()) return;
  std::string text = std::to_string(warned.size()) + (warned.size() == 1 ? " known fault" : " known faults") +
                     " (version facts as of " + ctx.Compatibility(CCI_COMPATIBILITY_AS_OF) +
                     "; known-faults.txt has all, with their sources)";
  for (std::size_t i = 0; i < warned.size() && i < kMostNamed; ++i) text += "; " + warned[i].Short();
  ctx.Finding(kKnownFault, text);
}

void Attach(Context& ctx, const Said& said) {
  std::string text;
  const auto add = [&](const char* title, const Faults& faults) {
    if (faults.empty()) return;
    text += std::string(title) + "\n";
    for (const InstalledFault& fault : faults) text += "  " + fault.Text() + "\n";
  };
  add("Faults that affect what the matrix names:", said.red);
  add("Faults that may affect what the image does:", said.warned);
  add("Faults without a known fix, or that only cost time or memory:", said.listed);
  add("Faults of copies that nothing in their environment loads:", said.idle);
  if (!text.empty()) ctx.Attach("known-faults.txt", "text/plain", text);
}

struct KnownFaults {
  using Params = KnownFaultsParams;
  static void Describe(Schema<Params>& s) {
    s.Summary("no installed release is known to fail on what the matrix promises, by versions alone")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .TimeoutSeconds(120);
    s.Param("gpus", &Params::gpus)
        .Summary("promised compute capabilities; if empty, those of runner.compute_capability, or else all")
        .Default({});
    s.Param("dtypes", &Params::dtypes)
        .Summary("data types that the image uses; if empty, all")
        .OneOf({"float64", "float32", "float16", "bfloat16", "int8", "float8_e4m3", "float8_e5m2", "nvfp4"})
        .Default({});
    s.Param("operations", &Params::operations)
        .Summary("operations that the image uses; if empty, all, and only effects in fail_on are errors")
        .OneOf({"convolution", "attention", "matmul", "norm", "elementwise", "collective", "compile"})
        .Default({});
    s.Param("fail_on", &Params::fail_on)
        .Summary("effects that are errors, whatever operation they affect")
        .OneOf({"wrong", "overwrite", "crash", "hang", "failure", "refused", "slow", "memory"})
        .Default({});
  }
  static void Validate(const Params& p, Problems& problems) {
    for (const std::string& gpu : p.gpus)
      if (ReleaseOf(gpu) != gpu || !problems.IsRange("=" + gpu))
        problems.Add("gpus", "\"" + gpu + "\" is not a compute capability such as \"9.0\"");
  }
  static void Run(Context& ctx, const Params& p) {
    const TableEntry entry = [&ctx](const std::string& key) { return ctx.Compatibility(key); };
    const Satisfies satisfies = [&ctx](const std::string& v, const std::string& range) {
      return ctx.Satisfies(v, range);
    };
    if (entry(std::string(CCI_COMPATIBILITY_KNOWN) + "0" + CCI_COMPATIBILITY_KNOWN_ID).empty())
      ctx.Skip(CCI_SKIP_UNSUPPORTED, "a table of version facts with known regressions", "none");
    const SubjectComponents subject = ComponentsOfSubject(ctx);
    const FaultScope scope = ScopeOf(ctx, p, subject, entry, satisfies);
    Said said;
    std::size_t judged = 0;
    for (const Component& component : subject.components) {
      if (component.version.empty()) {
        ctx.Finding(kComponentVersionUnknown, component.library + ", " + component.origin);
        continue;
      }
      ++judged;
      const std::size_t red = said.red.size();
      for (const KnownRegression& row : KnownRegressionsOf(ctx, component.version, component.library)) {
        const FaultWeight weight = WeightOf(row, scope, satisfies);
        if (!component.loaded) {
          if (weight != FaultWeight::kNone) said.idle.push_back({component, row});
          continue;
        }
        if (weight == FaultWeight::kRed) said.red.push_back({component, row});
        if (weight == FaultWeight::kWarning) said.warned.push_back({component, row});
        if (weight == FaultWeight::kListed) said.listed.push_back({component, row});
      }
      if (said.red.size() == red) CCI_EXPECT_TRUE(true) << component.library;
    }
    if (judged == 0)
      ctx.Skip(CCI_SKIP_ABSENT, "a library that has a version and rows in the table of known faults",
               "none among " + std::to_string(subject.packages) + " packages");
    ctx.Measure("libraries", static_cast<double>(judged), "");
    for (Faults* faults : {&said.red, &said.warned, &said.listed, &said.idle}) Sort(faults);
    ReportRed(ctx, said.red);
    Warn(ctx, said.warned);
    Attach(ctx, said);
  }
};

CCI_REGISTER(KnownFaults, "known_faults")

}  // namespace
}  // namespace cudnn_ci
