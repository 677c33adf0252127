// image.symbols: every shared object of the subject resolves in the process that loads it: its libraries are
// there, and so are the symbols and versions that it asks for. Needs no GPU; nothing of the image is run.
#include <cudnn_ci/check.hpp>

#include <map>
#include <string>
#include <vector>

#include "common/joined.h"
#include "common/loader_path.h"
#include "image/baked_versions.h"
#include "image/contents/image_files.h"
#include "image/cpu_builds.h"
#include "image/findings.h"
#include "image/package_files.h"
#include "image/subject_files.h"
#include "image/symbols/symbols_judge.h"

namespace cudnn_ci {
namespace {

// Of one kind; the others are counted.
constexpr int kMostFindings = 12;

const char* IdOf(SymbolFaultKind kind) {
  switch (kind) {
    case SymbolFaultKind::kMissingLibrary:
      return kLibraryMissing;
    case SymbolFaultKind::kOtherMajor:
      return kLibraryOtherMajor;
    case SymbolFaultKind::kDamaged:
      return kLibraryDamaged;
    case SymbolFaultKind::kMissingSymbol:
      return kSymbolMissing;
    case SymbolFaultKind::kVersionMissing:
      return kSymbolVersionMissing;
    case SymbolFaultKind::kOtherCxxAbi:
      return kCxxAbiMismatch;
    case SymbolFaultKind::kWrongProvider:
      return kLibraryShadowed;
    case SymbolFaultKind::kTwoProviders:
      return kLibraryTwoProviders;
    case SymbolFaultKind::kOpenedLater:
      return kLibraryOpenedLater;
    case SymbolFaultKind::kOtherCuda:
      return kPackageForOtherCuda;
    case SymbolFaultKind::kPartMissing:
      return kPackagePartMissing;
    case SymbolFaultKind::kAfterImport:
      return kImportNeedsAnother;
    case SymbolFaultKind::kUndecided:
      return kSymbolsUndecided;
    case SymbolFaultKind::kUnused:
      return kLibraryUnusedUnresolved;
  }
  return kSymbolsUndecided;
}

// What nobody needs is one note, however many files there are.
std::string UnusedText(const std::vector<SymbolFault>& faults) {
  std::map<std::string, std::string> lacking;  // file to what it lacks
  for (const SymbolFault& fault : faults)
    if (fault.kind == SymbolFaultKind::kUnused)
      lacking[fault.asker] +=
          (lacking[fault.asker].empty() ? "" : ", ") + (fault.library.empty() ? "symbols" : fault.library);
  std::string text = std::to_string(lacking.size()) + " files: ";
  int shown = 0;
  for (const auto& [file, what] : lacking) {
    if (++shown > kMostFindings) break;
    text += (shown == 1 ? "" : "; ") + file + " lacks " + what;
  }
  return lacking.size() > kMostFindings ? text + "; and others" : text;
}

struct Symbols {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary(
         "every shared object of the subject finds its libraries, symbols and versions in the "
         "process that loads it, and belongs to the package that has recorded it")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        // Thousands of files are read from a cold disk.
        .TimeoutSeconds(120);
  }
  static void Run(Context& ctx, const Params&) {
    const ImageFiles image = FilesOfSubject(ctx);
    // "path:" puts its folders before all others; those of another subject are found by run paths.
    const std::string path = Environment("LD_LIBRARY_PATH");
    LoaderFiles files(ctx.SubjectSpec().starts_with("path:") ? path
                                                             : UsersLibraryPath(path, ctx.SubjectFolders()));
    const SymbolRules rules =
        ReadSymbolRules([&ctx](const std::string& key) { return ctx.Compatibility(key); });
    const SymbolJudgement judgement = JudgeSymbols(image, ctx.SubjectSpec(), rules, &files);
    if (judgement.files == 0) ctx.Skip(CCI_SKIP_ABSENT, "shared objects of " + ctx.SubjectSpec(), "none");
    ctx.Log(std::to_string(judgement.files) + " files, " + std::to_string(judgement.symbols) +
            " symbols looked up, in processes of: " + Joined(judgement.processes));
    std::map<SymbolFaultKind, int> said;
    bool unused = false, sound = true;
    for (const SymbolFault& fault : judgement.faults) {
      if (fault.kind == SymbolFaultKind::kUnused) {
        unused = true;
        continue;
      }
      const bool is_error =
          fault.kind != SymbolFaultKind::kTwoProviders && fault.kind != SymbolFaultKind::kOpenedLater &&
          fault.kind != SymbolFaultKind::kAfterImport && fault.kind != SymbolFaultKind::kUndecided;
      sound = sound && !is_error;
      if (++said[fault.kind] <= kMostFindings) ctx.Finding(IdOf(fault.kind), fault.detail, {fault.line});
    }
    for (const auto& [kind, count] : said)
      if (count > kMostFindings)
        ctx.Finding(IdOf(kind), "and " + std::to_string(count - kMostFindings) + " more of this kind");
    for (const PackageFault& fault : JudgePackageFiles(image, rules)) {
      sound = sound && fault.id != kPackageReplaced && fault.id != kPackageFileGone;
      ctx.Finding(fault.id, fault.detail, {fault.line});
    }
    const auto known = [&ctx](const std::string& key) { return ctx.Compatibility(key); };
    for (const CpuBuild& build : CpuBuildsBesideCuda(image, rules, known, &files))
      ctx.Finding(kPackageForCpu, build.Text());
    for (const BakedDifference& differs : BakedVersionsThatDiffer(image, known, &files))
      ctx.Finding(kLibraryOtherThanBaked, differs.Text());
    if (unused) ctx.Finding(kLibraryUnusedUnresolved, UnusedText(judgement.faults));
    for (const std::string& problem : image.problems) ctx.Finding(kContentsUnreadable, problem);
    if (sound) CCI_EXPECT_TRUE(sound) << "every file resolves";
  }
};

CCI_REGISTER(Symbols, "symbols")

}  // namespace
}  // namespace cudnn_ci
