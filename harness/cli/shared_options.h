// The options that several commands have, in groups: a struct for each group, and the function that declares
// its options on a command. Parsing sets the struct.
#ifndef CUDNN_CI_CLI_SHARED_OPTIONS_H_
#define CUDNN_CI_CLI_SHARED_OPTIONS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "report/formats/console.h"
#include "report/formats/formats.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cudnn_ci {

// The name of standard output instead of a report's.
inline constexpr char kStandardOutput[] = "-";

// --matrix, --matrix-root
struct MatrixOptions {
  std::string name;  // file or name; empty: none is given
  std::string root;  // below it lie the matrix and its parents; empty: nowhere else than they say
};
// `what` begins the help of --matrix.
void DeclareMatrix(CLI::App* app, MatrixOptions* o, const std::string& what);

// Which cases of which contract: --matrix, --auto, --no-gpu, --filter, --case, --stage, --shard, --nodes,
// --device, --disturb
struct SelectionOptions {
  MatrixOptions matrix;
  bool auto_matrix = false;  // also meant where neither a matrix nor --no-gpu is given
  bool no_gpu = false;
  std::string filter;
  std::vector<std::string> case_ids;
  bool static_stage = false;
  std::string shard, nodes;              // as given; empty: the whole plan
  int shard_index = 0, shard_count = 0;  // what CheckShard reads from either
  std::string device = kFirstDevice;     // "all", an index, a UUID
  bool disturb = false;

  static constexpr char kFirstDevice[] = "0";
};
void DeclareSelection(CLI::App* app, SelectionOptions* o);
// Sets the index and count of the shard, or of the node. An error where both are given.
Status CheckShard(SelectionOptions* o);
// --matrix and --auto exclude each other. --no-gpu names the matrix `static`, or means the static stage of
// the one that is given.
Status SettleMatrixChoice(SelectionOptions* o);

// --plugin-dir, --knowledge, --allow-adapters, --load-timeout
struct DiscoveryOptions {
  std::vector<std::string> plugin_dirs;
  std::vector<std::string> knowledge;  // files and folders
  bool allow_adapters = false;         // that these bring
  double load_timeout_s = 10;
};
void DeclareDiscovery(CLI::App* app, DiscoveryOptions* o);
// Each --plugin-dir is a folder.
Status CheckDiscovery(const DiscoveryOptions& o);

// Where reports go: --output-dir, and an option for each report.
struct ReportOptions {
  std::string output_dir;  // as given; empty: the default, or none
  ReportPaths paths;       // as given, by the name of ReportFormats()
};

// What a launcher outside of the container says of itself: --reproduce-with, --reports-at. Empty: there is
// no launcher.
struct LauncherOptions {
  std::string command;     // the line that repeats the run from there
  std::string reports_at;  // the folder that the reports will lie in
};
void DeclareLauncher(CLI::App* app, LauncherOptions* o);
// Whether only a launcher gives this option: it belongs to one start, and to no line that repeats it.
bool IsLaunchersOption(const std::string& name);

// --color
void DeclareColor(CLI::App* app, Color* color);
// --json
void DeclareJson(CLI::App* app, bool* json);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SHARED_OPTIONS_H_
