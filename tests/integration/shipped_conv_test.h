// What the tests of the convolution checks share: shapes, parameters, and what the fake cuDNN was asked.
#ifndef CUDNN_CI_TESTS_INTEGRATION_SHIPPED_CONV_TEST_H_
#define CUDNN_CI_TESTS_INTEGRATION_SHIPPED_CONV_TEST_H_

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "shipped_test.h"

namespace cudnn_ci {

class ConvTest : public ShippedTest {
 protected:
  ConvTest() {
    // Nothing is square, a power of two or the same in two places.
    UseShapes(
        R"({"made": {"x": [2, 6, 9, 11], "w": [8, 3, 3, 5], "pad": [1, 2], "stride": [2, 1], "groups": 2},
                  "line": {"x": [2, 6, 30], "w": [8, 3, 5], "pad": 2, "stride": 3, "groups": 2},
                  "volume": {"x": [2, 3, 4, 5, 6], "w": [4, 3, 1, 3, 2], "pad": [0, 1, 0]},
                  "winograd": {"x": [1, 24, 7, 7], "w": [2, 24, 5, 5], "pad": 2},
                  "winograd_of_many": {"x": [6, 24, 5, 5], "w": [12, 24, 5, 5], "pad": 2},
                  "uneven": {"x": [2, 3, 8, 9], "w": [4, 3, 3, 3], "pad": 1, "pad_after": 0, "stride": 2},
                  "quads": {"x": [2, 8, 6, 7], "w": [12, 8, 3, 3], "pad": 1},
                  "wide_images": {"x": [1, 4, 1024, 1024], "w": [1, 4, 1, 1], "stride": 256},
                  "wide_filters": {"x": [1, 4096, 1, 1], "w": [1024, 4096, 1, 1]},
                  "vast": {"x": [64, 64, 512, 512], "w": [1, 64, 1, 1], "stride": 512}})");
    Set("FAKE_CUDNN_LOG", gate().Path("cudnn.log"));
  }
  static std::string Params(const std::string& algo, const std::string& dtype = "float32",
                            const std::string& shape = "made", const std::string& rest = "") {
    return R"("params": {"algo": ")" + algo + R"(", "dtype": ")" + dtype + R"(", "shape": ")" + shape + "\"" +
           (rest.empty() ? "" : ", " + rest) + "}";
  }
  CheckOutcome Convolve(const std::string& check, const std::string& params) {
    gate().Write("cudnn.log", "");
    return Check(check, params);
  }
  // All convolutions of the last run, in order: calls by this name.
  std::vector<json> AllAsked(const std::string& call) const {
    std::vector<json> asked;
    std::istringstream lines(const_cast<ConvTest*>(this)->gate().Read("cudnn.log"));
    for (std::string line; std::getline(lines, line);)
      if (json one = json::parse(line); one["call"] == call) asked.push_back(one);
    return asked;
  }
  // Those on exact data: a result that is right is followed by runs on random ones, which lie elsewhere.
  std::vector<json> FirstRuns(const std::string& call) const {
    std::vector<json> first = AllAsked(call);
    if (first.empty()) return first;
    const json apart = first.front()["apart"];
    const auto again = [&apart](const json& one) { return one["apart"] != apart; };
    first.erase(std::remove_if(first.begin(), first.end(), again), first.end());
    return first;
  }
  static std::vector<std::string> Steps(const CheckOutcome& r) {
    std::vector<std::string> steps;
    for (const json& step : r.record["steps"]) steps.push_back(step);
    return steps;
  }
  // The table of a sweep.
  std::string Choices(const CheckOutcome& r) {
    for (const json& attachment : r.record["attachments"])
      if (attachment["name"] == "choices.txt")
        return gate().Read("report/" + attachment["path"].get<std::string>());
    return "";
  }
  // The first one; null if there was none.
  json Asked(const std::string& call = "cudnnConvolutionForward") const {
    const std::vector<json> all = AllAsked(call);
    return all.empty() ? json() : all.front();
  }
  static void ExpectPassed(const CheckOutcome& r) {
    EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
    EXPECT_EQ(r.gate.exit_code, 0);
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_SHIPPED_CONV_TEST_H_
