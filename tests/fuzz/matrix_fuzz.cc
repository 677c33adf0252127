// Matrices as people and broken generators write them: whatever the bytes, reading and planning end in a
// plan whose cases are distinct and in order, or in problems with positions.
#include <sys/mman.h>
#include <unistd.h>

#include <set>

#include "base/fd.h"
#include "fuzz_target.h"
#include "model/json/json_parse.h"
#include "model/plan/plan.h"

namespace cudnn_ci {
namespace {

ParamInfo Param(std::string name, ParamType type, std::optional<std::string> default_json = {}) {
  ParamInfo param;
  param.name = std::move(name);
  param.type = type;
  param.default_json = std::move(default_json);
  return param;
}

CheckInfo Check(std::string plugin, const std::string& name, Devices devices,
                std::vector<std::string> prerequisites) {
  CheckInfo check;
  check.name = plugin + "." + name;
  check.plugin = std::move(plugin);
  check.devices = devices;
  check.prerequisites = std::move(prerequisites);
  return check;
}

// Every type of parameter, every use of devices, a prerequisite, a plugin that would not load.
Catalog MakeCatalog() {
  CheckInfo forward = Check("conv", "forward", Devices::kOne, {"driver.load"});
  forward.per_subject = forward.shareable = forward.validates = true;
  ParamInfo dtype = Param("dtype", ParamType::kString, "\"float32\"");
  dtype.allowed = {"float32", "float16"};
  ParamInfo count = Param("count", ParamType::kI64, "1");
  count.min_i64 = 0;
  count.max_i64 = 1024;
  ParamInfo shape = Param("shape", ParamType::kShape);
  shape.fields = {Param("x", ParamType::kI64List), Param("pad", ParamType::kI64List, "0")};
  forward.params = {dtype,
                    count,
                    shape,
                    Param("tf32", ParamType::kBool, "false"),
                    Param("bound", ParamType::kF64, "0.5"),
                    Param("apis", ParamType::kStringList, "[\"legacy\"]")};
  const auto plugin = [](std::string name, CheckInfo check) {
    PluginInfo info;
    info.path = name + ".cci.so";
    info.name = std::move(name);
    info.checks = {std::move(check)};
    return info;
  };
  CheckInfo fill = Check("cudnn", "fill", Devices::kAll, {"conv.forward"});
  fill.disturbs = true;
  return {{plugin("conv", forward), plugin("cudnn", fill),
           plugin("driver", Check("driver", "load", Devices::kEnvironment, {}))},
          {{"framework", "framework.cci.so", "undefined symbol: Py_Initialize"}}};
}

void RequirePositions(const std::vector<Problem>& problems) {
  Require(!problems.empty(), "a refusal has a reason", "");
  for (const Problem& p : problems) Require(!p.message.empty(), "a problem says something", ToString(p));
}

void RequireGood(const Plan& plan) {
  std::set<CaseRef> seen;
  for (size_t i = 0; i < plan.cases.size(); ++i) {
    const Case& c = plan.cases[i];
    Require(seen.insert(c.planned.ref).second, "no case stands in a plan twice", c.planned.ref.id);
    for (const size_t p : c.prerequisites)
      Require(p < i, "what a case needs stands before it", c.planned.ref.id);
  }
}

// LoadMatrix reads files: this one lies in memory.
void TestMatrix(const std::string& text) {
  const auto parsed = ParseJson(text, "fuzz.json");
  if (const auto* problems = std::get_if<std::vector<Problem>>(&parsed)) RequirePositions(*problems);

  const Fd file(memfd_create("matrix", MFD_CLOEXEC));
  Require(file.valid(), "memfd_create", "");
  Require(write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write", "");
  const auto loaded = LoadMatrix("/proc/self/fd/" + std::to_string(file.get()));
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return RequirePositions(*problems);

  static const Catalog kCatalog = MakeCatalog();
  PlanOptions options;
  options.devices = {{"gpu0", "GPU-0", "H200", "9.0"}, {"gpu1", "GPU-1", "H200", "9.0"}};
  const auto planned = MakePlan(std::get<Matrix>(loaded), kCatalog, options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&planned)) return RequirePositions(*problems);
  RequireGood(std::get<Plan>(planned));

  // A plugin that finds fault with whatever it is asked about.
  options.validate = [](const std::vector<const CasePlanned*>& cases) {
    Validation validation;
    for (const CasePlanned* c : cases) {
      validation.invalid.emplace_back();
      for (const auto& [name, value] : c->params) validation.invalid.back().push_back({name, IdText(value)});
      validation.invalid.back().push_back({"", "together"});
    }
    return validation;
  };
  const auto judged = MakePlan(std::get<Matrix>(loaded), kCatalog, options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&judged)) RequirePositions(*problems);
}

}  // namespace
}  // namespace cudnn_ci

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cudnn_ci::TestMatrix(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
