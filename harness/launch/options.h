// The launcher's command line: `cudnn-ci run [OPTIONS] IMAGE [-- ARGUMENTS FOR cudnn-ci...]`.
#ifndef CUDNN_CI_LAUNCH_OPTIONS_H_
#define CUDNN_CI_LAUNCH_OPTIONS_H_

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace cudnn_ci::launch {

enum class GpuWay { kOfEngine, kGpus, kCdi };
enum class Pull { kMissing, kAlways, kNever };

struct Options {
  std::string image;
  std::string engine;  // empty: it is chosen
  std::vector<std::string> engine_arguments;
  std::string tool;  // empty: this program's own
  std::string output_dir = "cudnn-ci-report";
  std::string matrix;               // file or name; empty: none, or one of the container's
  std::vector<std::string> mounts;  // folders, absolute
  std::string gpus = "all";         // empty: none
  GpuWay gpu_way = GpuWay::kOfEngine;
  bool keep_entrypoint = false;
  std::string user;                    // empty: the image's
  std::vector<std::string> variables;  // names
  bool attestation = false, summary = false, dry_run = false;
  Pull pull = Pull::kMissing;
  int grace_s = 30;

  std::string ask;                     // the command that only asks, "facts"; empty: it is a gate
  std::string init_file;               // what init writes; "-": standard output
  std::vector<std::string> arguments;  // for cudnn-ci, without its matrix
  std::string matrix_behind;           // the one given behind --; empty: none
  bool strict_junit = false;

  // The options that ask for the same container once more, as words.
  std::vector<std::string> again;
};

// What is wrong with a command line; `help`: nothing is, it asks for help.
struct Refusal {
  std::string message;
  bool help = false;
};

// What --help prints.
const char* Usage();
// The options of the launcher that the gate does not have, "--engine". People type them at either.
const std::vector<std::string>& OwnOptions();

// The words behind the program's name. Wrong use is found before anything is touched.
std::variant<Options, Refusal> ParseOptions(const std::vector<std::string>& words);

// Where a gate of this line would leave its reports, as far as the words tell, whatever is wrong with them.
// None: it is no gate's (--dry-run, a command).
std::vector<std::string> FoldersForReports(const std::vector<std::string>& words);

// The absolute path of a folder that is to be mounted, links followed. Errors: it is none, it cannot be
// entered, or its name has a colon, which the syntax of mounts cannot hold.
Result<std::string> FolderToMount(const std::string& path);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_OPTIONS_H_
