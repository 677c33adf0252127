// Parameters that are right by type and bounds, and impossible together: the plugin that owns them says so,
// and the place in the matrix is found for what it says.
#include <set>
#include <unordered_set>

#include "model/json/json_tree.h"
#include "model/plan/plan_steps.h"

namespace cudnn_ci {

namespace {

// Cases of one check and the same parameters are one question, whatever their subject, device and name.
struct SameQuestion {
  bool operator()(const CasePlanned* a, const CasePlanned* b) const {
    return a->check == b->check && a->params == b->params;
  }
};
struct QuestionHash {
  size_t operator()(const CasePlanned* c) const {
    std::string text = c->check;
    for (const auto& [name, value] : c->params) {
      text += '\n';
      text += IdText(value);
    }
    return std::hash<std::string>()(text);
  }
};

// Finds the place in the matrix that gave a case its parameter.
class Origin {
 public:
  Origin(const PlanInput& input, const CasePlanned& c) : input_(input), case_(c) {}

  Problem Describe(const InvalidParam& invalid) const {
    const size_t dot = invalid.parameter.find('.');
    const std::string name = invalid.parameter.substr(0, dot);
    const std::string field = dot == std::string::npos ? "" : invalid.parameter.substr(dot + 1);
    if (case_.entry < 0) {
      return {{input_.PluginPath(case_.plugin), 0, 0},
              "the default parameters of " + case_.check + " are invalid: " + Text(invalid) +
                  "; repair the plugin, or list the check in \"checks\" with other values"};
    }
    const Shape* shape = field.empty() ? nullptr : ShapeOf(name);
    if (shape != nullptr) {
      const Json* json = Find(shape->fields, field);
      return {json == nullptr ? shape->position : json->position, Quote(field) + " of the shape " +
                                                                      Quote(shape->name) + " (for " +
                                                                      case_.check + "): " + invalid.why};
    }
    if (case_.params.count(name) == 0) {
      return {Entry().position, "the parameters of " + Quote(case_.ref.id) + ": " + Text(invalid)};
    }
    return {PositionOf(name), Quote(name) + " of " + case_.check + ": " + invalid.why};
  }

 private:
  const cudnn_ci::Entry& Entry() const { return input_.matrix.entries[static_cast<size_t>(case_.entry)]; }

  static std::string Text(const InvalidParam& invalid) {
    return invalid.parameter.empty() ? invalid.why : Quote(invalid.parameter) + ": " + invalid.why;
  }

  const Shape* ShapeOf(const std::string& parameter) const {
    const auto value = case_.params.find(parameter);
    const auto* name = value == case_.params.end() ? nullptr : std::get_if<std::string>(&value->second);
    for (const Shape& shape : input_.matrix.shapes) {
      if (name != nullptr && shape.name == *name) return &shape;
    }
    return nullptr;
  }

  // Of the value in "params" or of the one among an axis' values that the case has; a default stands nowhere.
  Position PositionOf(const std::string& name) const {
    if (const Json* fixed = Find(Entry().params, name)) return fixed->position;
    const Json* axis = Find(Entry().axes, name);
    if (axis == nullptr) return Entry().position;
    std::vector<Problem> ignored;
    Binder binder(input_, &ignored);
    const std::string text = IdText(case_.params.at(name));
    for (const Json& json : std::get<Json::Array>(axis->value)) {
      const std::optional<Bound> bound = binder.BindRaw(name, json);
      if (bound && IdText(bound->value) == text) return json.position;
    }
    return axis->position;
  }

  const PlanInput& input_;
  const CasePlanned& case_;
};

}  // namespace

std::vector<BrokenPlugin> ValidateCases(const PlanInput& input, const std::vector<Case>& cases,
                                        std::vector<Problem>* problems) {
  if (!input.options.validate) return {};
  std::vector<const CasePlanned*> asked;
  std::unordered_set<const CasePlanned*, QuestionHash, SameQuestion> known;
  for (const Case& c : cases) {
    const CheckInfo* check = input.Check(c.planned.check);
    if (check == nullptr || !check->validates || !known.insert(&c.planned).second) continue;
    asked.push_back(&c.planned);
  }
  if (asked.empty()) return {};
  const Validation answers = input.options.validate(asked);
  // One wrong shape is wrong in many cases.
  std::set<std::string> reported;
  for (size_t i = 0; i < asked.size() && i < answers.invalid.size(); ++i) {
    for (const InvalidParam& invalid : answers.invalid[i]) {
      Problem problem = Origin(input, *asked[i]).Describe(invalid);
      if (reported.insert(ToString(problem)).second) problems->push_back(std::move(problem));
    }
  }
  return answers.failed;
}

}  // namespace cudnn_ci
