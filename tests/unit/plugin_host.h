// Runs one check of one plugin in this process, without harness or worker, and keeps what it reports.
// For tests of plugins. A plugin's libraries stay loaded, so a test that must not inherit another's
// runs in a process of its own (plugin_runner).
#ifndef CUDNN_CI_TESTS_UNIT_PLUGIN_HOST_H_
#define CUDNN_CI_TESTS_UNIT_PLUGIN_HOST_H_

#include <cudnn_ci/plugin.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace cudnn_ci::testing {

using ParamValue =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<std::string>>;

// What the worker would hand to the check. Every parameter must be given: defaults are JSON, which the
// harness reads.
struct CheckInput {
  std::map<std::string, ParamValue> params;
  std::map<std::string, std::string> contract, facts;
  std::string subject_name = "system", subject_spec = "loader", device_uuid, scratch_dir = "/tmp";
  uint64_t seed = 1;
};

struct CheckReport {
  struct Expectation {
    bool held = false;
    std::string file, what;
    int line = 0;
  };
  struct Finding {
    std::string slug, detail;
    int severity = -1;  // enum cci_severity as declared; -1: the plugin did not declare the slug
    int blame = -1;     // enum cci_blame, likewise
  };
  struct Skip {
    uint32_t kind = 0;
    std::string need, seen;
  };
  struct Measurement {
    std::string name, unit;
    double value = 0;
  };

  std::string load_error;  // why the plugin or the check could not be found; then all else is empty
  std::vector<Expectation> expectations;
  std::vector<Finding> findings;
  std::vector<Skip> skips;
  std::vector<Measurement> measurements;
  std::vector<std::string> steps, logs, attachments, poison, uncaught;
  std::map<std::string, std::string> facts;

  // By rule (7) of plugin.h: "failed", "skipped" or "passed". An uncaught exception and a finding that
  // is not declared fail.
  std::string Verdict() const;
};

// Loads the plugin (never unloaded) and runs the check of this name, "load" for driver.load.
CheckReport RunCheck(const std::string& plugin_file, const std::string& check, const CheckInput& input);
// Runs the plugin's `facts`.
CheckReport RunFacts(const std::string& plugin_file, const CheckInput& input);

// -1: malformed; else whether a dotted version lies in ">=A <B" (also <=, >, ==; conditions are joined
// by blanks). Missing components count as 0.
int VersionSatisfies(const std::string& version, const std::string& range);

}  // namespace cudnn_ci::testing

#endif  // CUDNN_CI_TESTS_UNIT_PLUGIN_HOST_H_
