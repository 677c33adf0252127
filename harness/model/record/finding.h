// Findings: what is wrong, whose fault it is, what to do. Declared by the plugin that reports them;
// the harness declares its own.
#ifndef CUDNN_CI_MODEL_RECORD_FINDING_H_
#define CUDNN_CI_MODEL_RECORD_FINDING_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_ci {

enum class Severity { kError, kWarning, kNote };
enum class Blame { kImage, kRunner, kHarness, kMatrix, kUndetermined };
// In layer order: the first red layer holds the root cause.
enum class Layer { kDriver, kToolkit, kCudnn, kInit, kConvolution, kFramework, kOther };

// Where a command is typed; kNone: there is no command.
enum class Where { kNone, kImage, kHost, kMatrix };

const char* Name(Severity severity);  // "error", "warning", "note"
const char* Name(Blame blame);        // "image", "runner", "harness", "matrix", "undetermined"
const char* Name(Layer layer);        // "driver", ...
const char* Name(Where where);        // "", "image", "host", "matrix"
bool Parse(const std::string& name, Severity* out);
bool Parse(const std::string& name, Blame* out);
bool Parse(const std::string& name, Layer* out);
bool Parse(const std::string& name, Where* out);

// The declaration, for `explain` and to complete what a check reports.
struct FindingInfo {
  std::string slug;
  Severity severity = Severity::kError;
  Blame blame = Blame::kImage;
  std::string summary, remedy, link;  // link may be empty
  std::string declared_by;            // plugin name, or "cudnn-ci"
  // One line that fixes it, or shows more of it, and where it is typed. Empty: no line fits everywhere.
  std::string command = {};
  Where where = Where::kNone;
  bool of_result = false;  // no other process can cause it (CCI_FINDING_OF_RESULT)
};

// One finding about one case or about the run.
struct Finding {
  std::string slug;
  Severity severity = Severity::kError;
  Blame blame = Blame::kImage;
  std::string detail;
  // Copied from the declaration, so that a report can be rebuilt where the plugin is not at hand.
  std::string summary, remedy, link;
  std::string command = {};
  Where where = Where::kNone;
  // The subject that the finding is about, by its name; empty: none, or the one of its case.
  std::string subject = {};
  bool operator==(const Finding&) const = default;
};

// What is before a command for people: "Dockerfile", "on the host", "in matrix"; "command" for kNone.
const char* PlaceOf(Where where);
// Whether a report may show it as it stands: one line of printable text, of at most kMostCommand bytes.
inline constexpr size_t kMostCommand = 1000;
bool IsCommand(const std::string& command);

// A finding as declared in `info`, with the detail of this occurrence.
Finding MakeFinding(const FindingInfo& info, std::string detail);

// Findings that the harness itself and its launcher report: knowledge/findings/harness.json and
// launcher.json. finding_ids.h has the ids.
const std::vector<FindingInfo>& HarnessFindings();
const FindingInfo* FindHarnessFinding(const std::string& slug);
// Whether a check may report it, too: what it has seen of the machine and of what its commands ran out of.
bool MayBeReported(const std::string& slug);
// One of them with its detail; the finding id must be declared in HarnessFindings().
Finding HarnessFinding(const std::string& slug, std::string detail);
// The same about a subject.
Finding HarnessFinding(const std::string& slug, std::string detail, std::string subject);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_FINDING_H_
