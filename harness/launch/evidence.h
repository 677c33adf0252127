// What a container has left in its report folder, read with bounds and believed only as far as the run's
// secret word goes. The container may have written anything there: no link is followed, nothing but a regular
// file is opened, and the work is linear in bytes that are bounded.
#ifndef CUDNN_CI_LAUNCH_EVIDENCE_H_
#define CUDNN_CI_LAUNCH_EVIDENCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cudnn_ci::launch {

// The scalars of a report before its cases, by their paths: "run.token", "root_cause.detail". Those in lists
// and nulls are left out; true, false and numbers stand as in JSON.
using ReportFields = std::map<std::string, std::string>;

// Of the first 4 MiB of a JSON text. What cannot be read ends the fields, and is no error.
ReportFields FieldsOf(std::string_view json);
// The same of a file, which must be a regular one.
ReportFields FieldsOfFile(const std::string& path);
// The value of a field; empty: there is none.
std::string FieldOf(const ReportFields& fields, const std::string& path);

// What each report may have in bytes.
uint64_t MostBytes(const std::string& name);

struct Confirmation {
  bool confirmed = false;
  std::string reason;   // why not
  int status = 0;       // what the run ended with: of a cancelled run what its report says
  ReportFields fields;  // of report.json, whatever it is worth
};

// Whether the finished report in `folder` is of the run with this secret, and stands for `status`.
// `cancelled`: a signal has ended the run, and the engine's client may not have waited for the container's
// own status.
Confirmation Confirm(const std::string& folder, const std::string& secret, int status, bool cancelled);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_EVIDENCE_H_
