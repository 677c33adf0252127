// A machine whose driver is judged, and what was said of it.
#ifndef CUDNN_CI_TESTS_INTEGRATION_DRIVER_TEST_H_
#define CUDNN_CI_TESTS_INTEGRATION_DRIVER_TEST_H_

#include <string>
#include <vector>

#include "shipped_test.h"

namespace cudnn_ci {

class DriverTest : public ShippedTest {
 protected:
  // "warning newer-than-version-table", in the order in which they were said.
  static std::vector<std::string> Said(const CheckOutcome& r) {
    std::vector<std::string> said;
    if (r.record.is_null()) return said;
    for (const json& f : r.record["findings"])
      said.push_back(f["severity"].get<std::string>() + " " + f["slug"].get<std::string>());
    return said;
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_DRIVER_TEST_H_
