// image.symbols: every shared object of the subject resolves in the process that loads it: its libraries are
// there, and so are the symbols and versions that it asks for. Needs no GPU; nothing of the image is run.
#include <cudnn_ci/check.hpp>

#include <map>
#include <string>
#include <vector>

#include "common/joined.h"
#include "common/loader_path.h"
#include "image/image_files.h"
#include "image/symbols_judge.h"

namespace cudnn_ci {
namespace {

// Of one kind; the others are counted.
constexpr int kMostFindings = 12;

constexpr char kLibraryMissing[] = "library-missing";
constexpr char kLibraryOtherMajor[] = "library-other-major";
constexpr char kLibraryDamaged[] = "library-damaged";
constexpr char kSymbolMissing[] = "symbol-missing";
constexpr char kSymbolVersionMissing[] = "symbol-version-missing";
constexpr char kCxxAbiMismatch[] = "cxx-abi-mismatch";
constexpr char kLibraryShadowed[] = "library-shadowed";
constexpr char kLibraryTwoProviders[] = "library-two-providers";
constexpr char kSymbolsUndecided[] = "symbols-undecided";
constexpr char kLibraryUnusedUnresolved[] = "library-unused-unresolved";

CCI_FINDING(kLibraryMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "a library that an extension module or a library of the image needs is not there",
            "Image owner: install the package that the detail names, in the version that the asking package "
            "requires; where the library is there and not found, put its folder into LD_LIBRARY_PATH.",
            nullptr)
CCI_FINDING(
    kLibraryOtherMajor, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "an extension or a library was built for another major release of a library than the image has",
    "Image owner: install the build of the asking package for the CUDA major that the image has, or the "
    "library of the major that it was built for.",
    nullptr)
CCI_FINDING(
    kLibraryDamaged, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a library that the loader takes cannot be loaded: it is cut off, empty or no library",
    "Image owner: install the package of the file again; look for a layer or a copy that was cut off, and "
    "for git-lfs pointers.",
    nullptr)
CCI_FINDING(
    kSymbolMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a symbol that an extension or a library asks for is in no library of its process",
    "Image owner: the two packages that the detail names do not go together. Install releases that were "
    "built for one another, the library's at least as new as the asking package was built with; build an "
    "extension of PyTorch again for the PyTorch of the image.",
    nullptr)
CCI_FINDING(
    kSymbolVersionMissing, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "a library lacks a version of its symbols that another file needs",
    "Image owner: the library in the detail is too old for the file that asks. Take a newer base image "
    "(glibc), a newer libstdc++, or an older build of the asking package.",
    nullptr)
CCI_FINDING(
    kCxxAbiMismatch, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
    "an extension was built with the other C++ ABI (_GLIBCXX_USE_CXX11_ABI) than the library that it needs",
    "Image owner: install the build of the extension for the library's C++ ABI, or build it again with the "
    "value of torch.compiled_with_cxx11_abi().",
    "https://gcc.gnu.org/onlinedocs/libstdc++/manual/using_dual_abi.html")
CCI_FINDING(kLibraryShadowed, CCI_SEVERITY_ERROR, CCI_BLAME_IMAGE,
            "of two copies of a library the loader takes the one that lacks what is asked for",
            "Image owner: take the copy that the detail names first out of the loader's way: out of "
            "LD_LIBRARY_PATH, or remove its package.",
            nullptr)
CCI_FINDING(kLibraryTwoProviders, CCI_SEVERITY_WARNING, CCI_BLAME_IMAGE,
            "one process can meet two different copies of a library; which one it gets depends on the order",
            "Image owner: keep one of the two, or take the folder of the other out of LD_LIBRARY_PATH.",
            nullptr)
CCI_FINDING(kSymbolsUndecided, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE, "symbols could not be judged",
            "Image owner: the detail says of which files and why.", nullptr)
CCI_FINDING(kLibraryUnusedUnresolved, CCI_SEVERITY_NOTE, CCI_BLAME_IMAGE,
            "libraries that no import leads to lack something",
            "Image owner: nothing, if what they are for is not used; else install what the detail names.",
            nullptr)

const char* IdOf(SymbolFaultKind kind) {
  switch (kind) {
    case SymbolFaultKind::kLibraryMissing:
      return kLibraryMissing;
    case SymbolFaultKind::kOtherMajor:
      return kLibraryOtherMajor;
    case SymbolFaultKind::kDamaged:
      return kLibraryDamaged;
    case SymbolFaultKind::kSymbolMissing:
      return kSymbolMissing;
    case SymbolFaultKind::kVersionMissing:
      return kSymbolVersionMissing;
    case SymbolFaultKind::kOtherCxxAbi:
      return kCxxAbiMismatch;
    case SymbolFaultKind::kWrongProvider:
      return kLibraryShadowed;
    case SymbolFaultKind::kTwoProviders:
      return kLibraryTwoProviders;
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
         "every shared object of the subject finds its libraries, symbols and versions in the process that "
         "loads it")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject();
  }
  static void Run(Context& ctx, const Params&) {
    const ImageFiles image = FilesOfSubject(ctx);
    LoaderFiles files(UsersLibraryPath(Environment("LD_LIBRARY_PATH"), ctx.SubjectFolders()));
    const SymbolJudgement judgement = JudgeSymbols(image, ctx.SubjectSpec(), &files);
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
          fault.kind != SymbolFaultKind::kTwoProviders && fault.kind != SymbolFaultKind::kUndecided;
      sound = sound && !is_error;
      if (++said[fault.kind] <= kMostFindings) ctx.Finding(IdOf(fault.kind), fault.detail);
    }
    for (const auto& [kind, count] : said)
      if (count > kMostFindings)
        ctx.Finding(IdOf(kind), "and " + std::to_string(count - kMostFindings) + " more of this kind");
    if (unused) ctx.Finding(kLibraryUnusedUnresolved, UnusedText(judgement.faults));
    for (const std::string& problem : image.problems) ctx.Finding(kSymbolsUndecided, problem);
    if (sound) CCI_EXPECT_TRUE(sound) << "every file resolves";
  }
};

CCI_REGISTER(Symbols, "symbols")

}  // namespace
}  // namespace cudnn_ci
