// Which promises of the contract the plan tests. A promise that no case tests would be green whatever the
// image holds.
#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

bool Declares(const CheckInfo* check, const std::string& key) {
  return check != nullptr && std::count(check->judges.begin(), check->judges.end(), key) > 0;
}

// A case that counts: red if the promise is not kept. One without a subject has looked at what all of them
// have in common. A check that is left out because it disturbs others is required no more; one that may be
// skipped need not test. What the plan predetermines otherwise is red.
bool Proves(const PlanInput& input, const Case& c, const std::string& key, const std::string& subject) {
  if (!c.planned.required || !c.planned.allow_skip.empty()) return false;
  if (!c.planned.subject.empty() && c.planned.subject != subject) return false;
  return Declares(input.Check(c.planned.check), key);
}

bool IsAboutTheImage(std::string_view key) { return key.rfind("image.", 0) == 0; }

bool IsHeldAgainst(const Matrix& matrix, const std::string& subject, const std::string& key) {
  const auto lacks = matrix.unpromised.find(subject);
  return lacks == matrix.unpromised.end() || lacks->second.count(key) == 0;
}

// The subjects of the matrix for which no case tests the promise. What the runner promises has no subject.
std::vector<std::string> Untested(const PlanInput& input, const std::vector<Case>& cases,
                                  const std::string& key) {
  std::vector<std::string> unjudged;
  for (const SubjectInfo& subject : input.matrix.subjects) {
    const auto judges = [&](const Case& c) {
      return IsAboutTheImage(key) ? Proves(input, c, key, subject.name)
                                  : Proves(input, c, key, c.planned.subject);
    };
    if (std::none_of(cases.begin(), cases.end(), judges)) unjudged.push_back(subject.name);
  }
  return unjudged;
}

// " for the subject \"wheel\""; nothing when it is so for all of them.
std::string ForSubjects(const PlanInput& input, const std::vector<std::string>& unjudged) {
  if (unjudged.size() == input.matrix.subjects.size()) return "";
  std::vector<std::string> quoted;
  for (const std::string& name : unjudged) quoted.push_back(Quote(name));
  return (quoted.size() == 1 ? " for the subject " : " for the subjects ") + Join(quoted, ", ");
}

std::string Remedy(const Catalog& catalog, const std::string& key) {
  std::vector<std::string> judges;
  for (const PluginInfo& plugin : catalog.plugins) {
    for (const CheckInfo& check : plugin.checks) {
      if (Declares(&check, key)) judges.push_back("{ \"check\": " + Quote(check.name) + " }");
    }
  }
  if (judges.empty()) return "no plugin has a check that tests it; remove the promise, or add the plugin";
  return "add " + Join(judges, " or ") +
         " to \"checks\", required and without \"allow_skip\", or remove the promise";
}

}  // namespace

void CheckPromises(const PlanInput& input, const std::vector<Case>& cases, std::vector<Problem>* problems) {
  // The file that could not be loaded may hold the check; its own case is red.
  if (!input.catalog.broken.empty()) return;
  for (const auto& [key, position] : input.matrix.contract_positions) {
    std::vector<std::string> unjudged = Untested(input, cases, key);
    std::erase_if(unjudged, [&, &promise = key](const std::string& subject) {
      return !IsHeldAgainst(input.matrix, subject, promise);
    });
    if (unjudged.empty()) continue;
    AddProblem(problems, position,
               Quote(key) + " is promised, but no required check of the matrix tests it" +
                   ForSubjects(input, unjudged) + ": " + Remedy(input.catalog, key));
  }
}

Notices NotGated(const PlanInput& input, const std::vector<Case>& selected) {
  constexpr std::pair<const char*, const char*> kPromises[] = {{"image.toolkit", "the CUDA toolkit"},
                                                               {"image.cudnn", "cuDNN"}};
  Notices notices;
  for (const auto& [key, what] : kPromises) {
    if (input.matrix.contract.count(key) > 0) continue;
    notices.push_back({NoticeCode::kVersionNotPromised, {{"key", key}, {"what", what}}});
  }
  for (const auto& [key, range] : input.matrix.contract) {
    std::vector<std::string> unjudged = Untested(input, selected, key);
    if (unjudged.empty()) continue;
    if (unjudged.size() == input.matrix.subjects.size()) unjudged.clear();  // for none of them
    notices.push_back(
        {NoticeCode::kPromiseNotJudged, {{"key", key}, {"range", range}, {"subjects", std::move(unjudged)}}});
  }
  return notices;
}

}  // namespace cudnn_ci
