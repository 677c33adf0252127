// What the launcher writes itself: a red junit.xml from the first second on, its record, and the verdict on a
// job's page.
#ifndef CUDNN_CI_LAUNCH_PAGE_H_
#define CUDNN_CI_LAUNCH_PAGE_H_

#include <optional>
#include <string>

#include "base/result.h"
#include "launch/engine.h"
#include "launch/evidence.h"
#include "launch/identity.h"

namespace cudnn_ci::launch {

// What is known of a launch so far.
struct Facts {
  std::string token;
  std::string image;  // as typed
  Identity identity;
  bool keep_entrypoint = false;
  Engine engine;
  std::string command;        // what was started, without secrets; empty: nothing
  std::optional<int> status;  // how it ended; none: it has not
};

// An error of the launcher's own, with the finding's name: "runner.image-missing".
struct OwnError {
  std::optional<int> exit_code;  // none: the run goes on
  std::string type, message, text;
};

// A whole document, red, instead of junit.xml.
Status WriteJunit(const std::string& folder, const Facts& facts, const OwnError& error);

// launcher.json. `reason`: the verdict, or what went wrong.
Status WriteRecord(const std::string& folder, const Facts& facts, int exit_code, bool confirmed,
                   const std::string& reason);

struct JobPage {
  std::string verdict;
  int exit_code = 0;
  std::string reason;  // of the launcher's own; empty: none
  bool confirmed = false;
  ReportFields fields;  // of report.json, where it is confirmed
  std::string page;     // summary.md, to follow; empty: none
};
// Adds the verdict to the page of $GITHUB_STEP_SUMMARY, if that is set.
void AddToJobPage(const Facts& facts, const JobPage& page);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_PAGE_H_
