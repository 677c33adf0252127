// toolkit.runtime: is the CUDA runtime there, and of the promised version? Needs no GPU and no driver.
#include <cudnn_ci/check.hpp>

#include "base/path.h"
#include "common/cudart_api.h"
#include "common/driver_files.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_config.h"
#include "toolkit/contract.h"
#include "toolkit/findings.h"

namespace cudnn_ci {
namespace {

// An image need not have cuBLAS. One that is there and cannot be loaded, most often because the libcublasLt
// that is found first is of another install, fails every program that uses it.
void JudgeCublas(Context& ctx, int major) {
  const std::string name = "libcublas.so." + std::to_string(major);
  const std::string lt_name = "libcublasLt.so." + std::to_string(major);
  const std::string path = ResolveLibrary(name);
  if (path.empty()) return;
  LateLibrary cublas, lt;
  // cuBLAS links the other one: if that is truncated, SIGBUS would end the process here.
  const ElfFile needed(ResolveLibrary(lt_name, ElfFile(path).RunPath()));
  std::string error = needed.truncated() ? needed.error() : "";
  const bool loads = error.empty() && LoadChecked(name, &cublas, &error);
  if (const std::string awaited = AwaitedLibrary(error); !loads && !awaited.empty()) {
    ctx.Log(name + " needs " + awaited + ", which is not on this machine: it was not loaded");
    return;
  }
  if (!Judge(ctx, loads, name + " loads", kCublasUnusable,
             [&] { return error + "; " + LibraryPathWords(ctx.SubjectFolders()); })) {
    return;
  }
  // The one that it took, which is loaded by now.
  if (!lt.Open(lt_name)) return;
  const std::string directory = DirectoryOf(RealPath(cublas.Path())),
                    other = DirectoryOf(RealPath(lt.Path()));
  ctx.Log("cuBLAS " + RealPath(cublas.Path()) + " with " + RealPath(lt.Path()));
  if (directory != other)
    ctx.Finding(kCublasMixedDirectories, name + " is taken from " + directory + " and " + lt_name + " from " +
                                             other + "; " + LibraryPathWords(ctx.SubjectFolders()));
}

struct Runtime {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("the CUDA runtime loads and has the promised version, and cuBLAS loads if there is one")
        .Layer(CCI_LAYER_TOOLKIT)
        .Judges("image.toolkit")
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        // Half a gigabyte of cuBLAS is read from a cold disk.
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    const ToolkitContract contract = ReadToolkitContract(ctx);
    if (contract.absent) {
      JudgeAbsence(ctx, "libcudart.so", "no CUDA runtime is found", kToolkitNotPromised);
      return;
    }
    const std::vector<CudartLibrary> found = FindCudart(ctx.SubjectFolders());
    contract.SkipUnlessPromised(ctx, !found.empty());
    if (!Judge(ctx, !found.empty(), "a CUDA runtime is found", kToolkitRuntimeMissing,
               "none of " + CudartSonames() + " is on the loader's path; " +
                   LibraryPathWords(ctx.SubjectFolders()),
               [&] { return LdconfigLine(PromisedCudartSonames(contract.promise)); })) {
      return;
    }
    std::string versions;
    for (const auto& cudart : found) {
      if (cudart.version.empty()) continue;
      ctx.Log("toolkit " + cudart.version + " at " + RealPath(cudart.path));
      versions += (versions.empty() ? "" : " and ") + cudart.version;
    }
    // An image may carry runtimes of several majors: programs choose by soname, and one keeps the promise.
    const CudartLibrary& judged = *JudgedCudart(found, contract.promise);
    if (judged.version.empty()) {
      ctx.Finding(kToolkitRuntimeMissing, judged.error);
      return;
    }
    const std::string& range = contract.promise.range;
    if (!Judge(ctx, contract.promise.Kept(judged.version), "toolkit " + judged.version + " is " + range,
               kToolkitOutsideContract,
               "toolkit " + (judged.own ? judged.version : versions) + " found, " + range + " promised" +
                   (judged.own ? "; the subject's own, " + RealPath(judged.path) : ""))) {
      return;
    }
    JudgeCublas(ctx, judged.major);
  }
};

CCI_REGISTER(Runtime, "runtime")

}  // namespace
}  // namespace cudnn_ci
