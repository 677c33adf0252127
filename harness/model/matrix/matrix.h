// The matrix: the contract between image and fleet, as the file says it, with positions for messages.
// Knows nothing of plugins: names of checks and parameters are resolved by MakePlan.
#ifndef CUDNN_CI_MODEL_MATRIX_MATRIX_H_
#define CUDNN_CI_MODEL_MATRIX_MATRIX_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "model/json/json_tree.h"
#include "model/matrix/matrix_format.h"
#include "model/record/event.h"
#include "model/record/outcome.h"

namespace cudnn_ci {

// How the values of an entry's axes are combined.
enum class Coverage {
  kAll,    // every combination
  kPairs,  // few combinations in which every pair of values of two axes comes
};

// An item of "checks", or of one that lists several checks, the part that is about one of them.
struct Entry {
  std::string id;     // may be empty
  std::string check;  // "conv.forward"
  // All that the item lists where they are several, `check` among them: an axis like others, the first.
  std::vector<std::string> checks;
  std::string name;     // tells two entries of one check apart in case ids ("name=flash_attn"); may be empty
  Json::Object params;  // fixed values
  Json::Object axes;    // values are arrays
  Coverage cover = Coverage::kAll;
  std::vector<Json::Object> exclude;  // combinations left out; "check" may be named as well
  // Combinations whose cases take long, and so start before others; an empty object: all of them.
  std::vector<Json::Object> slow;
  std::vector<SkipKind> allow_skip;
  std::optional<double> timeout_s;
  std::optional<bool> required;
  std::optional<bool> allow_flaky;  // a pass on retry counts as passed
  // By how much a case may be slower than the baseline, in percent; 0: it is not held to it.
  std::optional<double> max_slowdown_percent;
  std::vector<std::string> subjects;  // which subjects; empty: all
  Position position, check_position, name_position;
};

struct Shape {
  std::string name;
  Json::Object fields;
  Position position;
};

struct PositionedWaiver {
  Waiver waiver;
  Position position;
};

struct Matrix {
  std::string name;
  std::string path;                             // as given: a file, "builtin:cu12" or "cu12"
  std::string sha256;                           // over all files read, parents first
  std::vector<std::string> files;               // all files read, parents first
  std::map<std::string, std::string> contract;  // "runner.driver" -> ">=525.60.13", "image.cudnn" -> "absent"
  std::map<std::string, Position> contract_positions;
  // Shell patterns of libraries that the image means to preload into every process, and of driver libraries
  // itself that it means to use instead of the host's: by file name or path.
  std::vector<std::string> allowed_preloads, allowed_driver_libraries;
  std::vector<SubjectInfo> subjects;  // at least one
  // The image's Python environments are subjects too ("subjects": "auto"): who runs the matrix adds them, and
  // takes "system" out where the loader finds no cuDNN and they are enough.
  bool automatic_subjects = false;
  // The file names no subjects, and neither does an entry: what the loader finds is meant or, where that is
  // no cuDNN, what uses a GPU in the image: who runs the matrix decides.
  bool default_subjects = false;
  // By subject, the promises of the image that are not held against it: it lacks what they are about, nothing
  // in it asks for that, and that subject was not chosen for the promise. Such cases may be skipped.
  // kWithoutNvrtc is among them where image.toolkit promises no NVRTC.
  std::map<std::string, std::set<std::string>> unpromised;
  // By subject, the adapters whose packages it has, where subjects were found and not named. Checks of such a
  // package may be skipped on subjects without it, if another subject has it.
  std::map<std::string, std::set<std::string>> adapters;
  double default_timeout_s = 60;
  bool default_required = true;
  double default_max_slowdown_percent = 0;
  std::optional<Coverage> cover;  // of all entries, whatever they say
  std::vector<Shape> shapes;
  std::vector<Entry> entries;
  std::vector<PositionedWaiver> waivers;
};

// Reads the file and its parents. Reports every problem found, not only the first. Limits besides those
// above: 4 MiB a file, 16 levels of `extends`, nesting of 32. The files of `builtin_folder` can be named
// "builtin:STEM", here and in `extends`; here "STEM" will do, if no file is called that. Empty: there are
// none. Other absolute paths, here and in `extends`, are looked up below `root`, and told without it.
std::variant<Matrix, std::vector<Problem>> LoadMatrix(const std::string& path,
                                                      const std::string& builtin_folder = {},
                                                      const std::string& root = {});

// Why a text is no specification of a subject ("loader", "python:PATH", ...), as the end of a sentence;
// empty: it is one.
std::string SubjectProblem(const std::string& spec);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_MATRIX_H_
