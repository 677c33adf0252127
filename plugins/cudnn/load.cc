// cudnn.load: is one whole cuDNN there? Needs no GPU and no driver, and calls nothing of cuDNN.
#include <cudnn_ci/check.hpp>

#include <map>

#include "common/judge.h"
#include "common/loader_path.h"
#include "cudnn/findings.h"
#include "cudnn/install.h"

namespace cudnn_ci {
namespace {

std::string JoinLines(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? "" : "; ") + part;
  return all;
}

void JudgeFiles(Context& ctx, const CudnnInstall& install) {
  std::vector<std::string> broken;
  for (const CudnnPart* part : install.Broken()) {
    // The loader's text names the file it stumbled over, which may be a dependency of this one.
    const bool named = part->error.find(part->name) != std::string::npos;
    broken.push_back((named ? "" : part->name + ": ") + part->error);
  }
  Judge(ctx, broken.empty(), "every library of " + install.main.name + " loads", kCudnnSublibraryUnloadable,
        [&] { return JoinLines(broken) + "; needed by " + install.main.path; });
}

void JudgeDirectories(Context& ctx, const CudnnInstall& install) {
  const std::vector<std::string> directories = install.Directories();
  Judge(
      ctx, directories.size() <= 1, "all libraries of cuDNN lie in one directory", kCudnnMixedDirectories,
      [&] { return JoinLines(directories) + "; LD_LIBRARY_PATH='" + Environment("LD_LIBRARY_PATH") + "'"; });
}

void JudgeVersions(Context& ctx, const CudnnInstall& install) {
  std::map<std::string, std::string> files;  // version -> the files of it
  for (const auto& part : install.parts) {
    if (part.version.empty()) continue;
    std::string& names = files[part.version];
    names += (names.empty() ? "" : ", ") + part.path;
  }
  std::vector<std::string> versions;
  for (const auto& [version, names] : files) versions.push_back(version + " (" + names + ")");
  Judge(ctx, versions.size() <= 1, "the libraries that carry a version carry the same one",
        kCudnnMixedVersions, [&] { return JoinLines(versions); });
}

struct Load {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN and all its sub-libraries load, from one directory")
        .Layer(CCI_LAYER_CUDNN)
        .Devices(CCI_DEVICES_NONE)
        .PerSubject()
        // Half a gigabyte of libraries is read from a cold disk.
        .TimeoutSeconds(60);
  }

  static void Run(Context& ctx, const Params&) {
    const CudnnContract contract = ReadCudnnContract(ctx);
    if (contract.absent) {
      JudgeAbsence(ctx, "libcudnn.so", "no cuDNN is found", kCudnnNotPromised);
      return;
    }
    CudnnInstall install = InspectCudnn();
    contract.SkipUnlessPromised(ctx, install.found());
    if (!Judge(ctx, install.found(), "the main library is found", kCudnnMissing, [&] {
          return install.main.error + " (looked for libcudnn.so.9 and libcudnn.so.8; LD_LIBRARY_PATH='" +
                 Environment("LD_LIBRARY_PATH") + "')";
        })) {
      return;
    }
    const std::string spec = ctx.SubjectSpec();
    if (spec.compare(0, 5, "path:") == 0) {
      const std::string folder = RealPath(spec.substr(5));
      Judge(ctx, RealPath(install.main.path).compare(0, folder.size() + 1, folder + "/") == 0,
            "the main library is the subject's own", kCudnnMissing, [&] {
              return "not in " + folder + ", the subject's folder: the loader takes " + install.main.path;
            });
    }
    ctx.Log("cuDNN " + install.Version() + " at " + install.main.path);
    ctx.Step("load");
    LoadCudnn(&install);
    JudgeFiles(ctx, install);
    JudgeDirectories(ctx, install);
    JudgeVersions(ctx, install);
  }
};

CCI_REGISTER(Load, "load")

}  // namespace
}  // namespace cudnn_ci
