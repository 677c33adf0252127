// A machine with one GPU and a Python that knows the fake frameworks (tests/fakes/frameworks) and nothing
// that is installed.
#ifndef CUDNN_CI_TESTS_INTEGRATION_FRAMEWORK_TEST_H_
#define CUDNN_CI_TESTS_INTEGRATION_FRAMEWORK_TEST_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "shipped_test.h"

namespace cudnn_ci {

class FrameworkTest : public ShippedTest {
 protected:
  FrameworkTest() {
    UseFakes({"libcuda", "nvml"});
    std::filesystem::create_directory(gate().Path("bin"));
    Interpreter("exec " CUDNN_CI_PYTHON " -S \"$@\"");
    const char* path = getenv("PATH");
    Set("PATH", gate().Path("bin") + ":" + (path ? path : ""));
    Set("PYTHONPATH", CUDNN_CI_SOURCE_DIR "/tests/fakes/frameworks");
  }

  // The first python3 of PATH is this script.
  void Interpreter(const std::string& script, const std::string& shell = "/bin/sh") {
    gate().Write("bin/python3", "#!" + shell + "\n" + script + "\n");
    std::filesystem::permissions(gate().Path("bin/python3"), std::filesystem::perms(0755));
  }

  // framework.NAME with these parameters; `entry` is more of its entry.
  CheckOutcome Framework(const std::string& name, const std::string& params = "",
                         const std::string& entry = "") {
    return Check("framework." + name, "\"params\": {" + params + "}" + entry);
  }

  // "SLUG:SEVERITY " of each finding, in the order in which they were reported.
  static std::string Severities(const CheckOutcome& r) {
    std::string all;
    if (!r.record.is_null())
      for (const json& f : r.record["findings"])
        all += f["slug"].get<std::string>() + ":" + f["severity"].get<std::string>() + " ";
    return all;
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_FRAMEWORK_TEST_H_
