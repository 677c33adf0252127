// image.device_code: does every library run on the cards that are promised, and with which driver? Reads
// files alone and needs no GPU.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include "common/loader_path.h"
#include "image/contents/image_files.h"
#include "image/device_code/device_code_files.h"
#include "image/device_code/device_code_judgement.h"
#include "image/device_code/device_code_table.h"
#include "image/device_code/file_uses.h"
#include "image/device_code/promised_cards.h"
#include "image/subject_files.h"

namespace cudnn_ci {
namespace {

constexpr char kTableType[] = "application/vnd.cudnn-ci.table+json";

CardSources SourcesOf(const Context& ctx) {
  CardSources sources;
  sources.contract = [&](const std::string& key) { return ctx.Contract(key.c_str()); };
  sources.fact = [&](const std::string& key) { return ctx.Fact(key.c_str()); };
  sources.compatibility = [&](const std::string& key) { return ctx.Compatibility(key); };
  sources.satisfies = [&](const std::string& version, const std::string& range) {
    return ctx.Satisfies(version, range);
  };
  return sources;
}

struct DeviceCodeCheck {
  struct Params {
    std::vector<std::string> gpus;
  };

  static void Describe(Schema<Params>& s) {
    s.Summary(
         "every library has device code for the promised cards, and PTX that the promised driver compiles")
        .Layer(CCI_LAYER_TOOLKIT)
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        .TimeoutSeconds(120);
    s.Param("gpus", &Params::gpus)
        .Default({})
        .Summary(
            "compute capabilities of the fleet, such as [\"8.0\", \"9.0\"]; if empty, those of "
            "runner.compute_capability");
  }

  static void Validate(const Params& p, Problems& problems) {
    for (const std::string& gpu : p.gpus)
      if (!ParseCard(gpu))
        problems.Add("gpus", "\"" + gpu + "\" is not a compute capability such as \"8.9\"");
  }

  static void Run(Context& ctx, const Params& p) {
    const CardSources sources = SourcesOf(ctx);
    const PromisedCards cards = FindPromisedCards(p.gpus, sources);
    if (cards.cards.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "cards to test for: the parameter gpus, runner.compute_capability or a GPU",
               "none of them");
    ctx.Step("look for files");
    const ImageFiles image = FilesOfSubject(ctx);
    ctx.Step("read device code");
    std::vector<CodeFile> files = ReadCodeFiles(image);
    const SymbolRules rules = ReadSymbolRules(sources.compatibility);
    FileUses uses(&image, &rules, UsersLibraryPath(Environment("LD_LIBRARY_PATH"), ctx.SubjectFolders()));
    const DeviceCodeJudgement judgement =
        JudgeDeviceCode(std::move(files), cards, FindPromisedDriver(sources),
                        [&](const CodeFile& file) { return uses.Of(file.path); });
    for (const std::string& problem : image.problems) ctx.Finding(kContentsUnreadable, problem);
    for (const DeviceCodeFinding& finding : judgement.findings) ctx.Finding(finding.id, finding.detail);
    if (!judgement.files.empty())
      ctx.Attach("device-code.json", kTableType, DeviceCodeTable(judgement, cards, image.folders));
    ctx.Measure("files_looked_at", static_cast<double>(image.files.size()), "");
    ctx.Measure("libraries_judged", judgement.judged, "");
    if (judgement.judged == 0)
      ctx.Skip(CCI_SKIP_ABSENT, "a library with device code",
               "none among " + std::to_string(image.files.size()) + " files");
    ctx.Expect(true, __FILE__, __LINE__, "libraries with device code are tested");
  }
};

CCI_REGISTER(DeviceCodeCheck, "device_code")

}  // namespace
}  // namespace cudnn_ci
