// One entry, bound, into its cases: the combinations of its axes.
#include <algorithm>

#include "model/json/json_tree.h"
#include "model/plan/covering_array.h"
#include "model/plan/plan_steps.h"

namespace cudnn_ci {

namespace {

const Bound* Larger(const Bound* a, const Bound* b) { return a == nullptr || a->bytes < b->bytes ? b : a; }

// The parts of the entry's ids, sorted by key, with a place for each axis.
struct IdPart {
  std::string key, text;
  int axis = -1;
};

}  // namespace

void PutParam(const Bound& bound, Params* params) {
  params->insert_or_assign(bound.name, bound.value);
  for (const auto& [name, value] : bound.fields) params->insert_or_assign(name, value);
}

bool Expander::CheckSize(const Entry& entry, const std::vector<Bound>& fixed, const std::vector<Axis>& axes) {
  size_t bytes = 0;
  const Bound* largest = nullptr;
  for (const Bound& bound : fixed) {
    bytes += bound.bytes;
    largest = Larger(largest, &bound);
  }
  for (const Axis& axis : axes) {
    const Bound* most = &axis.values.front();  // an axis has values
    for (const Bound& bound : axis.values) most = Larger(most, &bound);
    bytes += most->bytes;
    largest = Larger(largest, most);
  }
  if (bytes <= kMaxParamBytes) return true;
  const Json* place = Find(entry.params, largest->name);
  if (place == nullptr) place = Find(entry.axes, largest->name);
  AddProblem(problems_, place == nullptr ? entry.position : place->position,
             "the parameters of a case of this entry take " + std::to_string(bytes) +
                 " bytes, more than the " + std::to_string(kMaxParamBytes) + " that a worker accepts; " +
                 Quote(largest->name) + " is the largest");
  return false;
}

namespace {

// The axis with which the combinations become too many.
Position TooMany(const Entry& entry, size_t checks) {
  size_t count = checks;
  for (const Json::Member& axis : entry.axes)
    if ((count *= std::get<Json::Array>(axis.value.value).size()) > kMaxCases) return axis.position;
  return entry.position;
}

}  // namespace

std::optional<std::vector<Combination>> Expander::Combinations(const Entry& entry,
                                                               const std::vector<Axis>& axes) {
  const std::vector<std::string> checks = entry.checks.empty() ? std::vector{entry.check} : entry.checks;
  Factors factors;
  factors.sizes.push_back(checks.size());
  for (const Axis& axis : axes) factors.sizes.push_back(axis.values.size());
  for (size_t e = 0; e < entry.exclude.size(); ++e) {
    const Json* left_out = Find(entry.exclude[e], "check");
    auto& exclusion = factors.exclusions.emplace_back(1);
    for (const std::string& check : checks)
      exclusion[0].push_back(left_out == nullptr || SameJson(*left_out, Json{check, {}}));
    for (const Axis& axis : axes) exclusion.push_back(axis.excluded[e]);
  }
  const bool pairs = entry.cover == Coverage::kPairs;
  const std::optional<std::vector<Combination>> made =
      pairs ? CoverPairs(factors) : EveryCombination(factors, kMaxCases);
  if (!made) {
    AddProblem(problems_, pairs ? entry.position : TooMany(entry, checks.size()),
               pairs ? "\"cover\": \"pairs\" takes too long to find; drop values or exclusions, or split "
                       "the entry"
                     : "with this axis the entry makes more than " + std::to_string(kMaxCases) +
                           " cases; split it or drop values");
    return std::nullopt;
  }
  const auto own = static_cast<size_t>(std::find(checks.begin(), checks.end(), entry.check) - checks.begin());
  std::vector<Combination> of_check;
  for (const Combination& c : *made)
    if (c.front() == own) of_check.emplace_back(c.begin() + 1, c.end());
  if (!of_check.empty()) return of_check;
  AddProblem(problems_, entry.position,
             "\"exclude\" leaves nothing of " + (checks.size() == 1 ? "this entry" : entry.check) +
                 "; remove one or the other");
  return std::nullopt;
}

// Gives every combination of an entry's axes its case.
class Expander::Combiner {
 public:
  Combiner(const Entry& entry, const Case& prototype, const std::vector<Bound>& fixed,
           const std::vector<Axis>& axes)
      : entry_(entry), axes_(axes), base_(prototype) {
    for (const Bound& bound : fixed) {
      PutParam(bound, &base_.planned.params);
      bytes_each_ += bound.bytes;
      if (!bound.id_text.empty()) parts_.push_back({bound.name, bound.id_text});
    }
    for (const Axis& axis : axes)
      parts_.push_back({axis.values.front().name, "", static_cast<int>(&axis - axes.data())});
    if (!base_.planned.subject.empty()) parts_.push_back({"subject", base_.planned.subject});
    if (!entry.name.empty()) parts_.push_back({"name", entry.name});
    std::sort(parts_.begin(), parts_.end(), [](const IdPart& a, const IdPart& b) { return a.key < b.key; });
  }

  // Of the parameters of these cases.
  size_t BytesOf(const std::vector<Combination>& combinations) const {
    size_t bytes = bytes_each_ * combinations.size();
    for (const Combination& c : combinations)
      for (size_t a = 0; a < axes_.size(); ++a) bytes += axes_[a].values[c[a]].bytes;
    return bytes;
  }

  Case Make(const Combination& values) {
    Case c = base_;
    for (size_t a = 0; a < axes_.size(); ++a) PutParam(axes_[a].values[values[a]], &c.planned.params);
    texts_.clear();
    for (const IdPart& part : parts_) {
      const auto axis = static_cast<size_t>(part.axis);
      texts_.emplace_back(part.key, part.axis < 0 ? part.text : axes_[axis].values[values[axis]].id_text);
    }
    c.planned.ref.id = CaseIdOf(entry_.check, texts_);
    for (size_t row = 0; row < entry_.slow.size(); ++row) c.slow = c.slow || IsSlow(row, values);
    return c;
  }

 private:
  // Whether a combination of the entry's "slow" names these values.
  bool IsSlow(size_t row, const Combination& values) const {
    const Json* check = Find(entry_.slow[row], "check");
    if (check != nullptr && !SameJson(*check, Json{entry_.check, {}})) return false;
    for (size_t a = 0; a < axes_.size(); ++a)
      if (!axes_[a].slow[row][values[a]]) return false;
    return true;
  }

  const Entry& entry_;
  const std::vector<Axis>& axes_;
  Case base_;  // what all cases have in common
  std::vector<IdPart> parts_;
  std::vector<std::pair<std::string_view, std::string_view>> texts_;
  size_t bytes_each_ = 0;
};

void Expander::AddCombinations(const Entry& entry, const Case& prototype, const std::vector<Bound>& fixed,
                               const std::vector<Axis>& axes, const std::vector<Combination>& combinations) {
  Combiner combiner(entry, prototype, fixed, axes);
  bytes_ += combiner.BytesOf(combinations);
  if (bytes_ > kMaxPlanBytes) {
    AddProblem(problems_, entry.position,
               "with this entry the plan's parameters take more than " + std::to_string(kMaxPlanBytes) +
                   " bytes; split the matrix");
    return;
  }
  // Never less than double, or entry after entry would move all cases before it.
  if (cases_.size() + combinations.size() > cases_.capacity()) {
    cases_.reserve(std::max(cases_.size() + combinations.size(), 2 * cases_.capacity()));
    known_.reserve(cases_.capacity());
  }
  for (const Combination& values : combinations) {
    Case made = combiner.Make(values);
    if (IsOfAnotherSubject(made.planned)) AllowAbsence(&made.planned.allow_skip);
    AddCase(std::move(made), &entry);
    if (cases_.size() <= kMaxCases) continue;
    AddProblem(
        problems_, entry.position,
        "with this entry the plan has more than " + std::to_string(kMaxCases) + " cases; split the matrix");
    return;
  }
}

void Expander::AddCase(Case c, const Entry* entry) {
  c.pooled = c.pooled && c.devices == Devices::kOne && c.planned.ref.device != input_.devices.front();
  c.leading = c.leading && !c.pooled && c.devices == Devices::kOne;
  c.prepared = c.prepared && !c.pooled && c.devices == Devices::kOne;
  const auto [place, added] = known_.emplace(CaseKey(c.planned.ref), cases_.size());
  if (added) {
    cases_.push_back(std::move(c));
    return;
  }
  const int first = cases_[place->second].planned.entry;
  if (entry == nullptr || !clashes_.emplace(std::make_pair(first, c.planned.entry), true).second) return;
  const std::string what = "the case " + Quote(c.planned.ref.id);
  if (first == c.planned.entry) {
    AddProblem(problems_, entry->position, what + " occurs twice in this entry; an axis lists a value twice");
  } else {
    const Position& other = input_.matrix.entries[static_cast<size_t>(first)].position;
    AddProblem(problems_, entry->position,
               what + " is also made by the entry at " + ToString(other) + "; give one of them a \"name\"");
  }
}

}  // namespace cudnn_ci
