// Where the reports go: probed before anything runs, and emptied of our own old reports, so that nobody ever
// takes yesterday's for today's.
#ifndef CUDNN_CI_CLI_OUTPUT_FOLDER_H_
#define CUDNN_CI_CLI_OUTPUT_FOLDER_H_

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "cli/options.h"

namespace cudnn_ci {

struct OutputPaths {
  std::string folder;                // empty: only single files were asked for
  std::string journal, junit, json;  // empty: not written
  std::vector<std::string> All() const;
};

// --output-dir, --junit and --json into paths: without any of them everything goes to cudnn-ci-report/.
OutputPaths ChoosePaths(const Options& options);

// Creates the folder, tries to write into every folder concerned, removes our old reports. Refuses to
// replace what is no regular file (a device, a link, a directory) and any of `inputs`; nothing is removed
// then. Errors name the folder, who we are, its mode, and what to do.
Status PrepareOutputFolder(const OutputPaths& paths, const std::vector<std::string>& inputs);

// Holds the folder for this run, as long as the descriptor lives; an error when another run holds it.
Result<Fd> LockFolder(const std::string& folder);

// Removes the reports of this run again (the input was invalid: none may be left).
void RemoveReports(const OutputPaths& paths);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_OUTPUT_FOLDER_H_
