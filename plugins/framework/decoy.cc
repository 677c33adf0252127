// framework.torch_decoy, .tensorflow_decoy, .jax_decoy and .onnxruntime_decoy: does a framework keep to the
// cuDNN of its own packages where the loader's path has another one?
//
// The other one is made for it: a folder with an empty library under every name that an install of cuDNN has,
// before all others in the LD_LIBRARY_PATH of the framework's process. Whatever asks for cuDNN by name gets
// it and fails; the loader itself says so, in a log of its own, whatever becomes of the process.
#include <cudnn_ci/check.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "base/path.h"
#include "common/cudnn_api.h"
#include "common/joined.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "common/program.h"
#include "framework/empty_library.h"
#include "framework/findings.h"
#include "framework/interpreter.h"
#include "framework/loaded.h"
#include "framework/loader_log.h"
#include "framework/problem.h"
#include "framework/rules.h"
#include "image/contents/cudnn_files.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// What the script loads by name, to show that this process's loader looks into the folder and says so.
constexpr char kControl[] = "libcudnn_ci_control.so";
constexpr char kLog[] = "loader";

// 9 of "libcudnn.so.9" and "libcudnn_ops.so.9"; 0 of any other name, "libcudnn.so.9.19.0" among them: an
// install of another version does not have that.
int MajorOfSoname(const std::string& name) {
  const std::string stem = "libcudnn", infix = ".so.";
  const size_t so = name.find(infix);
  if (name.compare(0, stem.size(), stem) != 0 || so == std::string::npos) return 0;
  const std::string digits = name.substr(so + infix.size());
  if (digits.empty() || digits.size() > 2 || digits.find_first_not_of("0123456789") != std::string::npos)
    return 0;
  return std::atoi(digits.c_str());
}

// The names of an install that could stand in for those in these folders: what lies there, what belongs to a
// whole one, and what the graph library opens beyond that.
std::set<std::string> NamesOfInstalls(const std::vector<std::string>& folders) {
  std::set<std::string> names;
  for (const std::string& folder : folders) {
    std::set<int> majors;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (const int major = MajorOfSoname(name); major != 0) {
        majors.insert(major);
        names.insert(name);
      }
    }
    for (const int major : majors) {
      names.insert(CudnnSoname(major));
      for (const std::string& part : CudnnPartNames(major)) names.insert(CudnnSoname(major, part));
      if (major < 9) continue;
      for (const std::string& part : CudnnPartsOpenedBy(folder + "/" + CudnnSoname(major, "graph")))
        names.insert(CudnnSoname(major, part));
    }
  }
  return names;
}

void WriteDecoys(const std::string& folder, std::set<std::string> names) {
  std::error_code error;
  fs::remove_all(folder, error);  // of the case before in this process, with its log
  fs::create_directories(folder, error);
  names.insert(kControl);
  for (const std::string& name : names) {
    std::ofstream file(folder + "/" + name, std::ios::binary);
    file << EmptyLibrary(name);
    file.close();
    if (!file) throw std::runtime_error("cannot write " + folder + "/" + name);
  }
}

// Asks the framework as its own check does, beside the decoys.
Asked AskBeside(Context& ctx, const Probe& probe, const Interpreter& p, const std::string& folder) {
  TakeUsersLibraryPath(ctx);
  const std::string users = Environment("LD_LIBRARY_PATH");
  std::vector<std::string> environment = {"LD_LIBRARY_PATH=" + folder + (users.empty() ? "" : ":" + users),
                                          "LD_DEBUG=libs", "LD_DEBUG_OUTPUT=" + folder + "/" + kLog};
  if (probe.environment) environment.emplace_back(probe.environment);
  // One more entry of the object.
  const std::string problem =
      "{\"load\": [\"" + std::string(kControl) + "\"], " + MakeProblem(ctx.Seed()).json.substr(1);
  return Ask(ctx, p, probe.name, problem, environment);
}

// Those that the loader took from the folder.
std::set<std::string> Taken(const LoaderLog& log, const std::string& folder,
                            const std::set<std::string>& names) {
  std::set<std::string> taken;
  for (const std::string& name : names)
    if (log.tried.count(folder + "/" + name) > 0) taken.insert(name);
  return taken;
}

// What else it got of cuDNN.
std::set<std::string> Others(const LoaderLog& log, const std::string& folder) {
  std::set<std::string> others;
  for (const std::string& file : log.loaded)
    if (DirectoryOf(file) != folder) others.insert(file);
  return others;
}

// A process that ended early has perhaps not asked for what it would have taken.
bool JudgeEnd(Context& ctx, const Framework& framework, const Asked& asked) {
  const Answer& answer = asked.answer;
  const std::string error = answer.LastError();
  SkipIfOutOfMemory(ctx, framework, error);
  const bool ended = answer.ended && !asked.end.timed_out && asked.end.exit_status == 0;
  return Judge(ctx, ended && error.empty(), "it computes beside another cuDNN", kFrameworkFailed, [&] {
    return NameOf(framework, answer) + " loads nothing from another cuDNN, but fails beside it at \"" +
           answer.step + "\": " +
           (!error.empty()        ? error
            : asked.end.timed_out ? std::string("it did not answer in time")
                                  : asked.python + " " + HowEnded(asked.end)) +
           "; " + LastLine(asked.end.output);
  });
}

void JudgeDecoy(Context& ctx, const Probe& probe, const Interpreter& p) {
  const Framework framework = FrameworkOf(ctx, probe);
  const std::string spec = ctx.SubjectSpec();
  // What a name on the loader's path stands for is what these subjects are made of.
  if (spec.compare(0, 7, "python:") != 0)
    ctx.Skip(CCI_SKIP_UNSUPPORTED, "a subject \"python:PATH\" whose packages include a cuDNN", spec);
  const std::set<std::string> names = NamesOfInstalls(ctx.SubjectFolders());
  if (names.empty())
    ctx.Skip(CCI_SKIP_ABSENT, "a cuDNN that comes with " + spec, "none in its folders of libraries");
  const std::string folder = ctx.ScratchDir() + "/decoy";
  WriteDecoys(folder, names);
  const Asked asked = AskBeside(ctx, probe, p, folder);
  const Answer& answer = asked.answer;
  SkipIfAbsent(ctx, framework, asked);
  const LoaderLog log = ReadLoaderLogs(folder, kLog);
  if (Taken(log, folder, {kControl}).empty())
    ctx.Skip(CCI_SKIP_UNSUPPORTED, "glibc's loader, which uses LD_LIBRARY_PATH and logs what it loads",
             "the log of " + asked.python + " shows no library that was loaded from there");
  const std::set<std::string> taken = Taken(log, folder, names), others = Others(log, folder);
  if (!Judge(ctx, taken.empty(), "it loads nothing from another cuDNN on the loader's path",
             kFrameworkDecoyTaken, [&] {
               return NameOf(framework, answer) + ", with another cuDNN first in LD_LIBRARY_PATH, loads " +
                      Joined(taken) + " from it" +
                      (others.empty() ? "" : ", together with " + Joined(others));
             }))
    return;
  if (!JudgeEnd(ctx, framework, asked)) return;
  // That it took nothing says something only of one that uses a cuDNN.
  if (answer.results.empty() || others.empty())
    ctx.Skip(CCI_SKIP_ABSENT, framework.title + " that computes with a cuDNN",
             NameOf(framework, answer) + (others.empty() ? " loads none" : " sees no GPU"));
  ctx.Log(NameOf(framework, answer) + " uses " + Joined(others));
}

constexpr char kKeeps[] = "uses its packages' cuDNN, even if another one is first on the loader's path";

template <const Probe& kProbe>
using BesideDecoy = FrameworkCheck<kProbe, kKeeps, JudgeDecoy>;

CCI_REGISTER(BesideDecoy<kTorch>, "torch_decoy")
CCI_REGISTER(BesideDecoy<kTensorflow>, "tensorflow_decoy")
CCI_REGISTER(BesideDecoy<kJax>, "jax_decoy")
CCI_REGISTER(BesideDecoy<kOnnxruntime>, "onnxruntime_decoy")

}  // namespace
}  // namespace cudnn_ci
