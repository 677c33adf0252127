#include "cli/plan_listing.h"

#include <nlohmann/json.hpp>
#include <string>

#include "cli/answer.h"

namespace cudnn_ci {
namespace {

using nlohmann::ordered_json;

std::string PlanAsText(const Plan& plan) {
  std::string out;
  for (const Case& c : plan.cases) {
    out += DisplayId(c.planned.ref);
    if (!c.planned.required) out += "  (optional)";
    if (c.planned.prerequisite) out += "  (needed by others)";
    if (c.predetermined) out += std::string("  (") + Name(*c.predetermined) + " already)";
    out += '\n';
  }
  return out;
}

}  // namespace

int PrintPlan(const Plan& plan, bool json) {
  if (!json) return PrintAsIs(PlanAsText(plan));
  ordered_json cases = ordered_json::array();
  for (const Case& c : plan.cases)
    cases.push_back(
        {{"id", c.planned.ref.id},
         {"device", c.planned.ref.device},
         {"check", c.planned.check},
         {"plugin", c.planned.plugin},
         {"subject", c.planned.subject},
         {"required", c.planned.required},
         {"prerequisite", c.planned.prerequisite},
         {"timeout_s", c.planned.timeout_s},
         {"settled", c.predetermined ? ordered_json(Name(*c.predetermined)) : ordered_json(nullptr)}});
  const ordered_json document = {{"schema", "cudnn-ci/list/1"},
                                 {"plan_sha256", plan.sha256},
                                 {"partial", PartialText(plan.partial)},
                                 {"not_gated", SentencesOf(plan.not_gated)},
                                 {"cases", cases}};
  // In ASCII: a terminal shows it, and characters that command one may stand in it.
  return PrintJsonAsIs(document.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace cudnn_ci
