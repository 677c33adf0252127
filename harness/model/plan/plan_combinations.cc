// One entry, bound, into its cases: every combination of its axes.
#include <algorithm>

#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"

namespace cudnn_ci {

namespace {

const Bound* Larger(const Bound* a, const Bound* b) { return a == nullptr || a->bytes < b->bytes ? b : a; }

// Counts like an odometer, the last axis fastest; false after the last combination.
bool Advance(std::vector<size_t>* digits, const std::vector<size_t>& sizes) {
  for (size_t i = digits->size(); i-- > 0;) {
    if (++(*digits)[i] < sizes[i]) return true;
    (*digits)[i] = 0;
  }
  return false;
}

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
                 " bytes, more than the " + std::to_string(kMaxParamBytes) + " that a worker can be told; " +
                 Quote(largest->name) + " is the largest");
  return false;
}

// Walks over the combinations of the axes, the last axis fastest, and gives every one its case.
class Expander::Combiner {
 public:
  Combiner(const Entry& entry, const Case& prototype, const std::vector<Bound>& fixed,
           const std::vector<Axis>& axes)
      : entry_(entry), axes_(axes), base_(prototype), digits_(axes.size()) {
    for (const Bound& bound : fixed) {
      PutParam(bound, &base_.planned.params);
      bytes_each_ += bound.bytes;
      if (!bound.id_text.empty()) parts_.push_back({bound.name, bound.id_text});
    }
    for (const Axis& axis : axes) {
      parts_.push_back({axis.values.front().name, "", static_cast<int>(sizes_.size())});
      sizes_.push_back(axis.values.size());
      count_ *= axis.values.size();
    }
    if (!base_.planned.subject.empty()) parts_.push_back({"subject", base_.planned.subject});
    if (!entry.name.empty()) parts_.push_back({"name", entry.name});
    std::sort(parts_.begin(), parts_.end(), [](const IdPart& a, const IdPart& b) { return a.key < b.key; });
  }

  // How many combinations there are, and the bytes of their parameters, excluded ones included.
  size_t count() const { return count_; }
  size_t bytes() const {
    size_t bytes = bytes_each_ * count_;
    for (const Axis& axis : axes_) {
      for (const Bound& bound : axis.values) bytes += bound.bytes * (count_ / axis.values.size());
    }
    return bytes;
  }

  bool Excluded() const {
    for (size_t e = 0; e < entry_.exclude.size(); ++e) {
      bool all = true;
      for (size_t a = 0; a < axes_.size() && all; ++a) all = axes_[a].excluded[e][digits_[a]];
      if (all) return true;
    }
    return false;
  }

  Case Make() {
    Case c = base_;
    for (size_t a = 0; a < axes_.size(); ++a) PutParam(axes_[a].values[digits_[a]], &c.planned.params);
    texts_.clear();
    for (const IdPart& part : parts_) {
      const auto axis = static_cast<size_t>(part.axis);
      texts_.emplace_back(part.key, part.axis < 0 ? part.text : axes_[axis].values[digits_[axis]].id_text);
    }
    c.planned.ref.id = CaseIdOf(entry_.check, texts_);
    return c;
  }

  bool Next() { return Advance(&digits_, sizes_); }

 private:
  const Entry& entry_;
  const std::vector<Axis>& axes_;
  Case base_;  // what all cases have in common
  std::vector<IdPart> parts_;
  std::vector<std::pair<std::string_view, std::string_view>> texts_;
  std::vector<size_t> sizes_, digits_;
  size_t count_ = 1, bytes_each_ = 0;
};

void Expander::AddCombinations(const Entry& entry, const Case& prototype, const std::vector<Bound>& fixed,
                               const std::vector<Axis>& axes) {
  Combiner combiner(entry, prototype, fixed, axes);
  bytes_ += combiner.bytes();
  if (bytes_ > kMaxPlanBytes) {
    AddProblem(problems_, entry.position,
               "with this entry the plan's parameters take more than " + std::to_string(kMaxPlanBytes) +
                   " bytes; split the matrix");
    return;
  }
  // Never less than double, or entry after entry would move all cases before it.
  if (cases_.size() + combiner.count() > cases_.capacity()) {
    cases_.reserve(std::max(cases_.size() + combiner.count(), 2 * cases_.capacity()));
    known_.reserve(cases_.capacity());
  }
  bool any = false;
  do {
    if (combiner.Excluded()) continue;
    any = true;
    AddCase(combiner.Make(), &entry);
  } while (cases_.size() <= kMaxCases && combiner.Next());
  if (cases_.size() > kMaxCases) {
    AddProblem(
        problems_, entry.position,
        "with this entry the plan has more than " + std::to_string(kMaxCases) + " cases; split the matrix");
  } else if (!any) {
    AddProblem(problems_, entry.position,
               "\"exclude\" leaves nothing of this entry; remove one or the other");
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
    AddProblem(problems_, entry->position, what + " comes twice of this entry; an axis lists a value twice");
  } else {
    const Position& other = input_.matrix.entries[static_cast<size_t>(first)].position;
    AddProblem(
        problems_, entry->position,
        what + " is made by the entry at " + ToString(other) + " already; give one of them a \"name\"");
  }
}

}  // namespace cudnn_ci
