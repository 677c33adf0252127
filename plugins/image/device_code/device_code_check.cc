// image.device_code: does every library run on the cards that are promised, and with which driver? Reads
// files alone and needs no GPU.
#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include "image/device_code/device_code_files.h"
#include "image/device_code/device_code_judgement.h"
#include "image/device_code/device_code_table.h"
#include "image/device_code/promised_cards.h"
#include "image/image_files.h"

CCI_FINDING(cudnn_ci::kDeviceCodeMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a library has no device code for a card that is promised",
            "Image owner: install a build of the package for this card, or compile it with the card in "
            "TORCH_CUDA_ARCH_LIST, CMAKE_CUDA_ARCHITECTURES or -gencode. A library that is not used on this "
            "card is named in a waiver.",
            "https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/index.html#gpu-compilation")
CCI_FINDING(cudnn_ci::kDeviceCodePtxTooNew, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a library has only PTX for a promised card, newer than the promised driver compiles",
            "Image owner: install a build with machine code for this card, or one that was compiled with a "
            "CUDA toolkit no newer than the driver; or raise runner.driver in the matrix to what the fleet "
            "has.",
            "https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html")
CCI_FINDING(cudnn_ci::kDeviceCodeMissingInRange, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "a library has no device code for a card that runner.compute_capability allows",
            "Image owner: name the cards of the fleet, as in \"compute_capability\": [\"8.0\", \"9.0\"], so "
            "that each is judged, or install a build for the card.",
            nullptr)
CCI_FINDING(cudnn_ci::kDeviceCodeCompiledAtStart, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "a library runs on a promised card only after the driver has compiled its PTX",
            "Image owner: the first start takes seconds to minutes, and again whenever the cache in ~/.nv is "
            "lost. Install a build with machine code for this card, or keep the cache on a volume.",
            nullptr)
CCI_FINDING(cudnn_ci::kDeviceCodeSpecialised, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "device code for single architectures, of which its package chooses one by the card",
            "Nothing has to be done if the package chooses by the card.", nullptr)
CCI_FINDING(cudnn_ci::kDeviceCodeForOthers, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "a library that is one of several to choose from has no device code for a promised card",
            "Image owner: if the package is used on this card, install a build for it. It may be left out on "
            "this card: its code is for single architectures alone, or another one of these libraries is for "
            "another CUDA version and serves the card.",
            nullptr)
CCI_FINDING(
    cudnn_ci::kDeviceCodeNotJudged, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
    "of a library that uses CUDA nothing can be said: its kernels lie elsewhere or are made at run time",
    "A run on the GPU judges it.", nullptr)
CCI_FINDING(cudnn_ci::kDeviceCodeUnreadable, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "the device code of a file cannot be read, or not all of it",
            "Image owner: install the package again if the file is damaged.", nullptr)

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
            "compute capabilities of the fleet: [\"8.0\", \"9.0\"]; none: runner.compute_capability says it");
  }

  static void Validate(const Params& p, Problems& problems) {
    for (const std::string& gpu : p.gpus)
      if (!ParseCard(gpu)) problems.Add("gpus", "\"" + gpu + "\" is no compute capability such as \"8.9\"");
  }

  static void Run(Context& ctx, const Params& p) {
    const CardSources sources = SourcesOf(ctx);
    const PromisedCards cards = FindPromisedCards(p.gpus, sources);
    if (cards.cards.empty())
      ctx.Skip(CCI_SKIP_ABSENT, "cards to judge for: the parameter gpus, runner.compute_capability or a GPU",
               "none of them");
    ctx.Step("look for files");
    const ImageFiles image = FilesOfSubject(ctx);
    ctx.Step("read device code");
    std::vector<CodeFile> files = ReadCodeFiles(image);
    const DeviceCodeJudgement judgement =
        JudgeDeviceCode(std::move(files), cards, FindPromisedDriver(sources));
    for (const std::string& problem : image.problems) ctx.Finding(kDeviceCodeUnreadable, problem);
    for (const DeviceCodeFinding& finding : judgement.findings) ctx.Finding(finding.id, finding.detail);
    if (!judgement.files.empty())
      ctx.Attach("device-code.json", kTableType, DeviceCodeTable(judgement, cards, image.folders));
    ctx.Measure("files_looked_at", static_cast<double>(image.files.size()), "");
    ctx.Measure("libraries_judged", judgement.judged, "");
    if (judgement.judged == 0)
      ctx.Skip(CCI_SKIP_ABSENT, "a library with device code",
               "none among " + std::to_string(image.files.size()) + " files");
    ctx.Expect(true, __FILE__, __LINE__, "libraries with device code are judged");
  }
};

CCI_REGISTER(DeviceCodeCheck, "device_code")

}  // namespace
}  // namespace cudnn_ci
