// What single options accept: validators for CLI11, each with a sentence that says what is wrong.
#ifndef CUDNN_CI_CLI_OPTION_CHECKS_H_
#define CUDNN_CI_CLI_OPTION_CHECKS_H_

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class Validator;
}

namespace cudnn_ci {

// A number over 0, finite and at most a week.
CLI::Validator CheckSeconds();
// A whole number from `least` to `most`, in decimal digits without a zero before them, which CLI11 reads as
// octal.
CLI::Validator CheckWhole(int least, int most);
// "all", an index, "gpuN", or what NVML calls a UUID: "GPU-..." and "MIG-...".
CLI::Validator CheckDevice();
// "auto", or a number from 1 to 99.
CLI::Validator CheckWorkersPerGpu();
// The name of a file or folder. A pipeline's variable that is not set would turn "--junit $FILE" into
// something else than was meant.
CLI::Validator CheckPath();
// The same of a report, which may go to standard output: "-".
CLI::Validator CheckReport();
// The name of a folder.
CLI::Validator CheckFolder();
// Any text but the empty one, which is refused with `complaint`.
CLI::Validator CheckNotEmpty(const std::string& complaint);
// NAME@sha256:...: a name that means another image tomorrow is no identity.
CLI::Validator CheckImage();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_OPTION_CHECKS_H_
