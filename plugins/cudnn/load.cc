// cudnn.load: is one whole cuDNN there? Needs no GPU and no driver, and calls nothing of cuDNN.
#include <cudnn_ci/check.hpp>

#include <map>

#include "base/path.h"
#include "base/variables.h"
#include "common/judge.h"
#include "common/library_path_line.h"
#include "common/loader_path.h"
#include "common/shortage.h"
#include "cudnn/contract.h"
#include "cudnn/findings.h"
#include "cudnn/install.h"
#include "cudnn/owner.h"
#include "cudnn/repair.h"
#include "image/contents/cudnn_copies.h"
#include "image/contents/cudnn_files.h"
#include "image/loader/loader_config.h"

namespace cudnn_ci {
namespace {

// `loaded`: the loader has been asked. What it complains of may be another package's, so that no line is
// certain.
void JudgeFiles(Context& ctx, const CudnnInstall& install, bool loaded) {
  std::vector<std::string> broken;
  for (const CudnnPart* part : install.Broken()) {
    // The loader's text names the file it stumbled over, which may be a dependency of this one.
    const bool named = part->error.find(part->name) != std::string::npos;
    broken.push_back((named ? "" : part->name + ": ") + part->error);
  }
  Judge(
      ctx, broken.empty(), "every library of " + install.main.name + " loads", kCudnnSublibraryUnloadable,
      [&] {
        return JoinLines(broken) + "; needed by " + install.main.path + OnRecord(install) +
               WordsOfShortage(JoinLines(broken));
      },
      [&] { return loaded ? "" : LineForParts(install, install.Broken()); });
}

// Such a file loads like the right one, and most of cuDNN's libraries carry no version that would tell.
void JudgeNames(Context& ctx, const CudnnInstall& install) {
  std::vector<std::string> others;
  std::vector<const CudnnPart*> wrong;
  const auto add = [&](const CudnnPart& part) {
    if (part.other_name.empty()) return;
    others.push_back(part.path + " is " + part.other_name + " by its soname");
    wrong.push_back(&part);
  };
  add(install.main);
  for (const CudnnPart& part : install.parts) add(part);
  Judge(
      ctx, others.empty(), "each library is the one that its name says", kCudnnOtherLibrary,
      [&] { return JoinLines(others) + "; needed by " + install.main.path + OnRecord(install); },
      [&] { return LineForParts(install, wrong); });
}

// What comes from elsewhere because the install itself lacks it, as the end of a sentence.
std::string Foreign(const CudnnInstall& install) {
  std::string all;
  for (const CudnnPart& part : install.parts) {
    if (!part.foreign) continue;
    const std::string version = VersionOfFiles(DirectoryOf(part.path), install.major);
    all += "; the graph library of " + install.Version() + " opens " + part.name +
           ", which its install lacks, and gets that of " + (version.empty() ? "another" : version);
  }
  return all;
}

void JudgeDirectories(Context& ctx, const CudnnInstall& install) {
  const std::vector<std::string> directories = install.Directories();
  Judge(
      ctx, directories.size() <= 1, "all libraries of cuDNN lie in one directory", kCudnnMixedDirectories,
      [&] {
        return JoinLines(directories) + Foreign(install) + PassedOver(install) + OnRecord(install) + "; " +
               LibraryPathWords(ctx.SubjectFolders());
      },
      [&] { return LineForDirectories(ctx, install); });
}

// What is no fault and yet limits what a pass says.
void SayWhatIsNotProved(Context& ctx, const CudnnInstall& install) {
  std::string awaiting, left_out;
  for (const CudnnPart* part : install.Awaiting())
    awaiting += (awaiting.empty() ? "" : "; ") + part->path + " needs " + part->awaits;
  if (!awaiting.empty()) ctx.Finding(kCudnnAwaitsDriver, awaiting + ", which is not on this machine");
  std::string lacking;
  std::vector<const CudnnPart*> listed;
  for (const CudnnPart& part : install.lacking) {
    const PartRecord record = RecordOfPart(install, part.name);
    if (record == PartRecord::kListed) listed.push_back(&part);
    // The wheel of 9.20.0.48 never had the part that its graph library would open.
    if (record == PartRecord::kNotListed)
      ctx.Log("the package of " + install.main.path + " has no " + part.name +
              ", which its graph library opens");
    else
      lacking += (lacking.empty() ? "" : ", ") + part.name;
  }
  if (!lacking.empty())
    ctx.Finding(kCudnnPartLacking,
                "the graph library of " + install.Version() + " (" + install.parts.front().path + ") opens " +
                    lacking + ", which is neither beside it nor anywhere else" + OnRecord(install),
                {LineForParts(install, listed)});
  if (!install.jit_only()) return;
  std::vector<std::string> elsewhere;
  for (const auto& part : install.left_out) {
    left_out += (left_out.empty() ? "" : ", ") + part.name;
    if (!part.path.empty())
      elsewhere.push_back(part.path + (part.version.empty() ? "" : " of " + part.version));
  }
  // Measured: 9.12.0 answers 1008 to every descriptor, 9.13.0 and later find out what is there. The variable
  // is not documented; its values stand in the graph library.
  const bool must_be_told =
      install.Version().rfind("9.12.", 0) == 0 && Environment("CUDNN_LIB_CONFIG") != "GRAPH_JIT_ONLY";
  ctx.Finding(
      kCudnnJitOnly,
      "without " + left_out + "; " + install.main.path +
          (must_be_told ? "; graphs of " + install.Version() +
                              " need CUDNN_LIB_CONFIG=GRAPH_JIT_ONLY: set it, or install 9.13.0 or later"
                        : ""));
  if (!elsewhere.empty())
    ctx.Finding(kCudnnJitCompleted, install.main.path + " of " + install.Version() +
                                        " would be completed with " + JoinLines(elsewhere) + "; " +
                                        LibraryPathWords(ctx.SubjectFolders()));
}

void JudgeVersions(Context& ctx, const CudnnInstall& install) {
  std::map<std::string, std::string> files;  // version -> the files of it
  std::vector<const CudnnPart*> parts;
  for (const auto& part : install.parts) {
    parts.push_back(&part);
    if (part.version.empty()) continue;
    std::string& names = files[part.version];
    names += (names.empty() ? "" : ", ") + part.path;
  }
  std::vector<std::string> versions;
  for (const auto& [version, names] : files) versions.push_back(version + " (" + names + ")");
  Judge(
      ctx, versions.size() <= 1, "all libraries with a version have the same one", kCudnnMixedVersions,
      [&] { return JoinLines(versions) + OnRecord(install); }, [&] { return LineForParts(install, parts); });
}

// The loader finds none, but the image may hold one where only Python or a program's run path looks.
std::string CopiesElsewhere() {
  std::string all;
  for (const CudnnCopy& copy : FindCudnnCopies(OwnVariables()).copies)
    all += (all.empty() ? "; copies where the loader does not look: " : ", ") +
           (copy.version.empty() ? "one of unknown version" : copy.version) + " in " + copy.directory + " (" +
           copy.origin + ")";
  return all;
}

struct Load {
  struct Params {};
  static void Describe(Schema<Params>& s) {
    s.Summary("cuDNN and all its libraries load, from one directory")
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
    CudnnInstall install = InspectCudnn(contract.majors);
    contract.SkipUnlessPromised(ctx, install.found());
    if (!Judge(
            ctx, install.found(), "the main library is found", kCudnnMissing,
            [&] {
              return install.main.error + " (looked for libcudnn.so.9 and libcudnn.so.8; " +
                     LibraryPathWords(ctx.SubjectFolders()) + ")" + OwnFolders(ctx) + CopiesElsewhere();
            },
            [&] { return LdconfigLine({install.main.name}); })) {
      return;
    }
    AddOpenedParts(&install);
    JudgeOwner(ctx, install);
    ctx.Log("cuDNN " + install.Version() + " at " + install.main.path);
    // Files that are useless as they lie there come first; then mixtures, which often do not even load
    // together; then what the loader says.
    const bool damaged = !install.Broken().empty();
    if (damaged) JudgeFiles(ctx, install, false);
    JudgeNames(ctx, install);
    JudgeDirectories(ctx, install);
    JudgeVersions(ctx, install);
    JudgePartsInLibraryPath(ctx, install);
    if (!damaged) {
      ctx.Step("load");
      LoadCudnn(&install);
      JudgeFiles(ctx, install, true);
    }
    SayWhatIsNotProved(ctx, install);
  }
};

CCI_REGISTER(Load, "load")

}  // namespace
}  // namespace cudnn_ci
