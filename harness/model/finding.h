// Findings: what is wrong, whose fault it is, what to do. Declared by the plugin that reports them;
// the harness declares its own.
#ifndef CUDNN_CI_MODEL_FINDING_H_
#define CUDNN_CI_MODEL_FINDING_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_ci {

enum class Severity { kError, kWarning, kNote };
enum class Blame { kImage, kRunner, kHarness, kMatrix, kUndetermined };
// In layer order: the first red layer holds the root cause.
enum class Layer { kDriver, kToolkit, kCudnn, kInit, kConvolution, kFramework, kOther };

const char* Name(Severity severity);  // "error", "warning", "note"
const char* Name(Blame blame);        // "image", "runner", "harness", "matrix", "undetermined"
const char* Name(Layer layer);        // "driver", ...
bool Parse(const std::string& name, Severity* out);
bool Parse(const std::string& name, Blame* out);
bool Parse(const std::string& name, Layer* out);

// The declaration, for `explain` and to complete what a check reports.
struct FindingInfo {
  std::string slug;
  Severity severity = Severity::kError;
  Blame blame = Blame::kImage;
  std::string summary, remedy, link;  // link may be empty
  std::string declared_by;            // plugin name, or "cudnn-ci"
  // One line that mends it, or shows more of it, and where it is typed: "image" (in its Dockerfile), "host"
  // (of the runner, in a shell), "matrix". Both empty: there is none that fits everywhere.
  std::string command = {}, where = {};
};

// One finding about one case or about the run.
struct Finding {
  std::string slug;
  Severity severity = Severity::kError;
  Blame blame = Blame::kImage;
  std::string detail;
  // Copied from the declaration, so that a report can be rebuilt where the plugin is not at hand.
  std::string summary, remedy, link;
  std::string command = {}, where = {};
  bool operator==(const Finding&) const = default;
};

// What is before a command for people: "Dockerfile", "on the host", "in matrix"; "command" if it is none of
// these.
std::string PlaceOf(const std::string& where);
// Whether it is one of the three.
bool IsPlace(const std::string& where);
// Whether a report may show it as it stands: one line of printable text, of at most kMostCommand bytes.
inline constexpr size_t kMostCommand = 1000;
bool IsCommand(const std::string& command);

// A finding as declared in `info`, with the detail of this occurrence.
Finding MakeFinding(const FindingInfo& info, std::string detail);

// The two that say what a second opinion was. A check that asks for one may report the first itself, where it
// has seen the GPU give different answers.
inline constexpr char kGpuComputesWrong[] = "gpu-computes-wrong";
inline constexpr char kFailsOnAnotherGpu[] = "fails-on-another-gpu";

// Findings the harness itself reports (crashed, timed-out, plugin-load, ...).
const std::vector<FindingInfo>& HarnessFindings();
const FindingInfo* FindHarnessFinding(const std::string& slug);
// Whether a check may report it, too: what it has seen of the machine and of what its commands ran out of.
bool MayBeReported(const std::string& slug);
// One of them with its detail; the slug must be declared in HarnessFindings().
Finding HarnessFinding(const std::string& slug, std::string detail);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_FINDING_H_
