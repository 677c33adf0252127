// What the default matrices leave out of the full product of their axes: no value and no pair of values of an
// operation.
#include <map>
#include <set>
#include <sstream>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using Pair = std::pair<std::string, std::string>;  // "dtype=float16" and "shape=dcgan"

// Both directions of attention are one operation, which has a direction.
struct Operation {
  std::string name;
  std::set<std::string> values;
};

Operation OperationOf(const std::string& id) {
  Operation operation{id.substr(0, id.find('[')), {}};
  const size_t begin = id.find('[') + 1;
  std::istringstream values(id.substr(begin, id.size() - 1 - begin));
  for (std::string value; std::getline(values, value, ',');) operation.values.insert(value);
  if (operation.name.rfind("attention.", 0) == 0) {
    operation.values.insert("direction=" + operation.name.substr(10));
    operation.name = "attention";
  }
  return operation;
}

using PairsByOperation = std::map<std::string, std::set<Pair>>;

class ShippedCover : public ShippedTest, public testing::WithParamInterface<const char*> {
 protected:
  std::vector<std::string> IdsOf(const std::string& matrix) {
    gate().UseExecutable(CUDNN_CI_STAGE_PLUGINS "/../bin/cudnn-ci");  // with matrices beside it
    const GateResult result = gate().Command({"list", "--json", "--matrix", matrix});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> ids;
    const json list = json::parse(result.out);
    for (const json& c : list["cases"]) {
      const std::string id = c["id"];
      if (id.rfind("conv.", 0) == 0 || id.rfind("attention.", 0) == 0 || id.rfind("gemm.", 0) == 0 ||
          id.rfind("nccl.", 0) == 0)
        ids.push_back(id);
    }
    return ids;
  }
  static PairsByOperation PairsOf(const std::vector<std::string>& ids) {
    PairsByOperation pairs;
    for (const std::string& id : ids) {
      const Operation operation = OperationOf(id);
      for (const std::string& a : operation.values)
        for (const std::string& b : operation.values) pairs[operation.name].insert({a, b});
    }
    return pairs;
  }
};

TEST_P(ShippedCover, EveryPairOfValuesOfAnOperationIsPlanned) {
  const std::string matrix = GetParam();
  gate().Write("all.json",
               R"({"schema": "cudnn-ci/matrix/1", "extends": "builtin:)" + matrix + R"(", "cover": "all"})");
  const std::vector<std::string> ids = IdsOf(matrix), all = IdsOf("all.json");
  EXPECT_LT(ids.size(), all.size());
  PairsByOperation planned = PairsOf(ids);
  for (const auto& [operation, pairs] : PairsOf(all))
    for (const Pair& pair : pairs)
      EXPECT_EQ(planned[operation].count(pair), 1u)
          << operation << ": " << pair.first << " and " << pair.second;
}

INSTANTIATE_TEST_SUITE_P(All, ShippedCover, testing::Values("cu11", "cu12", "cu13"),
                         [](const auto& matrix) { return std::string(matrix.param); });

// Each is a kernel that cuDNN compiles, for most of a second of one processor.
TEST_F(ShippedCover, AttentionsAreFew) {
  size_t attentions = 0;
  for (const std::string& id : IdsOf("cu13")) attentions += id.rfind("attention.", 0) == 0;
  EXPECT_LE(attentions, 28u);
}

}  // namespace
}  // namespace cudnn_ci
