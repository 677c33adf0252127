// What must pass first: circles, checks to pull in, links between cases, and the order that follows.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "base/text.h"
#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"

namespace cudnn_ci {

namespace {

// Cases of one check, subject and device: they have the same prerequisites.
struct Group {
  const CheckInfo* check = nullptr;
  std::string subject, device;
  std::vector<size_t> cases;
};

class Linker {
 public:
  Linker(const PlanInput& input, Expander* expander, std::vector<Problem>* problems)
      : input_(input), expander_(*expander), problems_(*problems) {}

  void Run() {
    Collect();
    // Groups grow while we walk: what is pulled in has its own prerequisites.
    for (size_t i = 0; i < groups_.size() && problems_.empty(); ++i) PullIn(i);
    for (const Group& group : groups_) {
      if (problems_.empty()) Link(group);
    }
  }

 private:
  void Collect() {
    const std::vector<Case>& cases = expander_.cases();
    for (; collected_ < cases.size(); ++collected_) {
      const CasePlanned& planned = cases[collected_].planned;
      const CheckInfo* check = input_.Check(planned.check);
      if (check == nullptr) continue;
      std::vector<size_t>& places = by_check_[check];
      const auto same = [&](size_t g) {
        return groups_[g].subject == planned.subject && groups_[g].device == planned.ref.device;
      };
      auto place = std::find_if(places.begin(), places.end(), same);
      if (place == places.end()) {
        groups_.push_back({check, planned.subject, planned.ref.device, {}});
        place = places.insert(places.end(), groups_.size() - 1);
      }
      groups_[*place].cases.push_back(collected_);
    }
  }

  // The groups of `check` that a case of `group` depends on.
  std::vector<size_t> Matching(const Group& group, const CheckInfo& check) const {
    std::vector<size_t> matching;
    const auto found = by_check_.find(&check);
    if (found == by_check_.end()) return matching;
    for (const size_t g : found->second) {
      const bool subject =
          !group.check->per_subject || !check.per_subject || groups_[g].subject == group.subject;
      const bool both_one = group.check->devices == Devices::kOne && check.devices == Devices::kOne;
      if (subject && (!both_one || groups_[g].device == group.device)) matching.push_back(g);
    }
    return matching;
  }

  void PullIn(size_t index) {
    const CheckInfo* dependent = groups_[index].check;
    for (const std::string& name : dependent->prerequisites) {
      const CheckInfo* check = input_.Check(name);
      if (check == nullptr) continue;  // of a plugin that could not be loaded: CatalogProblems saw to that
      if (!Matching(groups_[index], *check).empty()) continue;
      for (const std::string& subject : Subjects(groups_[index], *check)) {
        for (const std::string& device : DeviceNames(groups_[index], *check)) {
          if (!expander_.AddPulledIn(*check, subject, device, *dependent)) return;
        }
      }
      Collect();
    }
  }

  std::vector<std::string> Subjects(const Group& group, const CheckInfo& check) const {
    if (!check.per_subject) return {""};
    if (group.check->per_subject) return {group.subject};
    std::vector<std::string> all;
    for (const SubjectInfo& subject : input_.matrix.subjects) all.push_back(subject.name);
    return all;
  }

  std::vector<std::string> DeviceNames(const Group& group, const CheckInfo& check) const {
    if (check.devices != Devices::kOne) return {""};
    return group.check->devices == Devices::kOne ? std::vector<std::string>{group.device} : input_.devices;
  }

  void Link(const Group& group) {
    std::vector<size_t> prerequisites;
    CaseRef blocked_by;
    for (const std::string& name : group.check->prerequisites) {
      const CheckInfo* check = input_.Check(name);
      if (check == nullptr) {
        prerequisites.push_back(expander_.BrokenCase(input_.BrokenStem(name)));
        if (blocked_by.empty()) blocked_by = expander_.cases()[prerequisites.back()].planned.ref;
        continue;
      }
      for (const size_t g : Matching(group, *check)) {
        prerequisites.insert(prerequisites.end(), groups_[g].cases.begin(), groups_[g].cases.end());
      }
    }
    std::sort(prerequisites.begin(), prerequisites.end());
    prerequisites.erase(std::unique(prerequisites.begin(), prerequisites.end()), prerequisites.end());
    links_ += prerequisites.size() * group.cases.size();
    if (links_ > kMaxDependencies) {
      AddProblem(&problems_, {input_.matrix.path, 0, 0},
                 group.check->name + " has " + std::to_string(group.cases.size()) +
                     " cases that each wait for " + std::to_string(prerequisites.size()) +
                     " others; too many to keep track of");
      return;
    }
    for (const size_t index : group.cases) {
      Case& c = expander_.cases()[index];
      c.prerequisites = prerequisites;
      if (!blocked_by.empty() && !c.predetermined) c.predetermined = Blocked{blocked_by};
    }
  }

  const PlanInput& input_;
  Expander& expander_;
  std::vector<Problem>& problems_;
  std::vector<Group> groups_;
  std::unordered_map<const CheckInfo*, std::vector<size_t>> by_check_;
  size_t collected_ = 0;
  size_t links_ = 0;
};

}  // namespace

void LinkPrerequisites(const PlanInput& input, Expander* expander, std::vector<Problem>* problems) {
  Linker(input, expander, problems).Run();
}

bool CheckCycles(const PlanInput& input, std::vector<Problem>* problems) {
  enum class Mark { kOpen, kDone };
  std::map<std::string, Mark> marks;
  std::vector<std::string> chain;
  bool good = true;
  const std::function<void(const CheckInfo&)> visit = [&](const CheckInfo& check) {
    marks[check.name] = Mark::kOpen;
    chain.push_back(check.name);
    for (const std::string& name : check.prerequisites) {
      const CheckInfo* next = input.Check(name);
      if (next == nullptr) continue;
      const auto mark = marks.find(name);
      if (mark == marks.end()) {
        visit(*next);
      } else if (mark->second == Mark::kOpen) {
        const auto begin = std::find(chain.begin(), chain.end(), name);
        const std::string circle = Join(std::vector<std::string>(begin, chain.end()), " -> ") + " -> " + name;
        AddProblem(problems, {input.PluginPath(check.plugin), 0, 0},
                   "checks require one another in a circle: " + circle + "; repair the plugin");
        good = false;
      }
    }
    chain.pop_back();
    marks[check.name] = Mark::kDone;
  };
  for (const PluginInfo& plugin : input.catalog.plugins) {
    for (const CheckInfo& check : plugin.checks) {
      if (marks.count(check.name) == 0) visit(check);
    }
  }
  return good;
}

std::vector<Case> InOrder(std::vector<Case> cases) {
  std::vector<size_t> by_layer(cases.size());
  std::iota(by_layer.begin(), by_layer.end(), size_t{0});
  std::stable_sort(by_layer.begin(), by_layer.end(),
                   [&](size_t a, size_t b) { return cases[a].planned.layer < cases[b].planned.layer; });
  constexpr size_t kUnplaced = static_cast<size_t>(-1);
  std::vector<size_t> place(cases.size(), kUnplaced);
  std::vector<Case> ordered;
  ordered.reserve(cases.size());
  // As deep as the longest chain of checks; CheckCycles has excluded circles.
  const std::function<void(size_t)> emit = [&](size_t index) {
    if (place[index] != kUnplaced) return;
    for (const size_t p : cases[index].prerequisites) emit(p);
    place[index] = ordered.size();
    ordered.push_back(std::move(cases[index]));
    for (size_t& p : ordered.back().prerequisites) p = place[p];
    std::sort(ordered.back().prerequisites.begin(), ordered.back().prerequisites.end());
  };
  for (const size_t index : by_layer) emit(index);
  return ordered;
}

}  // namespace cudnn_ci
