// A small catalog and short ways to a plan, for the tests of MakePlan.
#ifndef CUDNN_CI_TESTS_UNIT_PLANNING_H_
#define CUDNN_CI_TESTS_UNIT_PLANNING_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/plan/plan.h"
#include "scratch.h"

namespace cudnn_ci {

inline ParamInfo Param(std::string name, ParamType type, std::optional<std::string> default_json = {}) {
  ParamInfo param;
  param.name = std::move(name);
  param.type = type;
  param.default_json = std::move(default_json);
  return param;
}

inline CheckInfo Check(const std::string& name, Layer layer, Devices devices,
                       std::vector<std::string> prerequisites = {}) {
  CheckInfo check;
  check.name = name;
  check.plugin = name.substr(0, name.find('.'));
  check.layer = layer;
  check.devices = devices;
  check.prerequisites = std::move(prerequisites);
  return check;
}

inline PluginInfo Plugin(const std::string& name, std::vector<CheckInfo> checks) {
  PluginInfo plugin;
  plugin.name = name;
  plugin.path = name + ".cci.so";
  plugin.checks = std::move(checks);
  return plugin;
}

// driver.load <- cudnn.init (per subject, one device) <- conv.forward (with parameters), and others.
inline Catalog SmallCatalog() {
  CheckInfo forward = Check("conv.forward", Layer::kConvolution, Devices::kOne, {"cudnn.init"});
  forward.per_subject = true;
  forward.timeout_s = 30;
  ParamInfo dtype = Param("dtype", ParamType::kString, "\"float32\"");
  dtype.allowed = {"float32", "float16", "bfloat16"};
  ParamInfo count = Param("count", ParamType::kI64, "1");
  count.min_i64 = 0;
  count.max_i64 = 1024;
  ParamInfo shape = Param("shape", ParamType::kShape);
  shape.fields = {Param("x", ParamType::kI64List), Param("pad", ParamType::kI64List, "0")};
  forward.params = {dtype, count, shape};

  CheckInfo init = Check("cudnn.init", Layer::kInit, Devices::kOne, {"driver.load"});
  init.per_subject = true;
  CheckInfo fill = Check("cudnn.fill", Layer::kCudnn, Devices::kOne);
  fill.disturbs = true;
  CheckInfo run = Check("exec.run", Layer::kFramework, Devices::kAll);
  run.params = {Param("argv", ParamType::kStringList), Param("exit", ParamType::kI64, "0")};
  return {{Plugin("conv", {forward}), Plugin("cudnn", {init, fill}),
           Plugin("driver", {Check("driver.load", Layer::kDriver, Devices::kEnvironment)}),
           Plugin("exec", {run}), Plugin("host", {Check("host.disk", Layer::kOther, Devices::kNone)})},
          {}};
}

// A matrix of these keys, besides schema and name; they begin in line 2.
inline Matrix MatrixOf(const std::string& keys) {
  const Scratch scratch;
  auto loaded =
      LoadMatrix(scratch.Write("m.json", "{\"schema\":\"cudnn-ci/matrix/1\",\"name\":\"m\",\n" + keys + "}"));
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
    for (const Problem& problem : *problems) ADD_FAILURE() << ToString(problem);
    return {};
  }
  return std::get<Matrix>(std::move(loaded));
}

inline Plan PlanOf(const std::string& keys, const Catalog& catalog = SmallCatalog(),
                   const PlanOptions& options = {}) {
  auto made = MakePlan(MatrixOf(keys), catalog, options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&made)) {
    for (const Problem& problem : *problems) ADD_FAILURE() << ToString(problem);
    return {};
  }
  return std::get<Plan>(std::move(made));
}

// The problems of planning, one a line, with the file's folder cut off.
inline std::string PlanProblems(const std::string& keys, const Catalog& catalog = SmallCatalog(),
                                const PlanOptions& options = {}) {
  const auto made = MakePlan(MatrixOf(keys), catalog, options);
  if (std::holds_alternative<Plan>(made)) return "none";
  std::vector<std::string> lines;
  for (const Problem& problem : std::get<std::vector<Problem>>(made)) {
    std::string line = ToString(problem);
    for (size_t end; (end = line.find("/m.json")) != line.npos;) {
      const size_t begin = line.rfind(' ', end) == line.npos ? 0 : line.rfind(' ', end) + 1;
      line.erase(begin, end + 1 - begin);
    }
    lines.push_back(line);
  }
  return Join(lines, "\n");
}

inline std::vector<std::string> Ids(const Plan& plan) {
  std::vector<std::string> ids;
  for (const Case& c : plan.cases) ids.push_back(DisplayId(c.planned.ref));
  return ids;
}

inline const Case& CaseOf(const Plan& plan, const std::string& id) {
  for (const Case& c : plan.cases) {
    if (DisplayId(c.planned.ref) == id) return c;
  }
  ADD_FAILURE() << "no case " << id;
  static const Case none;
  return none;
}

inline std::vector<std::string> Needs(const Plan& plan, const std::string& id) {
  std::vector<std::string> ids;
  for (const size_t p : CaseOf(plan, id).prerequisites) ids.push_back(DisplayId(plan.cases[p].planned.ref));
  return ids;
}

inline PlanOptions TwoDevices() {
  PlanOptions options;
  options.devices = {{"gpu0", "u0", "", ""}, {"gpu1", "u1", "", ""}};
  return options;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_PLANNING_H_
