// A run told in a few lines, as the events a runner would send: for tests of the fold and of the reporters.
#ifndef CUDNN_CI_TESTS_UNIT_RUN_BUILDER_H_
#define CUDNN_CI_TESTS_UNIT_RUN_BUILDER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/record/event.h"
#include "model/record/finding.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {

inline Finding Wrong(const std::string& slug, Blame blame, const std::string& detail = "seen") {
  return {slug, Severity::kError, blame, detail, "what " + slug + " is", "Owner: repair it.", ""};
}

class RunBuilder {
 public:
  RunBuilder() {
    run.run_id = "run-1";
    run.timestamp = "2026-01-31T10:00:00Z";
    run.version = "0.1.0";
    run.hostname = "node17";
    run.matrix_name = "cu12";
    run.matrix_path = "matrices/cu12.json";
    run.matrix_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    run.image = "registry.example/train:12.4";
    run.command_line = "cudnn-ci --matrix matrices/cu12.json";
    run.subjects = {{"system", "loader"}};
    run.devices = {{"gpu0", "GPU-0", "NVIDIA H200", "9.0"}};
    run.facts["system"] = {{"driver.version", "580.65.06"},
                           {"toolkit.version", "12.4"},
                           {"cudnn.version", "9.1.0"},
                           {"cudnn.path", "/usr/lib/x86_64-linux-gnu/libcudnn.so.9.1.0"}};
  }

  CasePlanned& Plan(const std::string& id, Layer layer = Layer::kOther, const std::string& device = "") {
    CasePlanned planned;
    planned.ref = {id, device};
    planned.check = id.substr(0, id.find('['));
    planned.plugin = id.substr(0, id.find('.'));
    planned.layer = layer;
    planned.entry = static_cast<int>(cases_.size());
    cases_.push_back(planned);
    return cases_.back();
  }
  RunBuilder& Add(EventBody body) {
    body_.push_back(std::move(body));
    return *this;
  }
  // An attempt with its outcome and findings, without ending the case.
  RunBuilder& Attempt(const CaseRef& ref, const Outcome& outcome, const std::vector<Finding>& findings = {},
                      AttemptMode mode = AttemptMode::kAlone) {
    const int number = ++attempts_[ref];
    Add(AttemptStarted{ref, number, 1, mode});
    for (const Finding& finding : findings) Add(FindingReported{ref, finding});
    return Add(AttemptFinished{ref, number, 1, outcome, 0.25, "", ""});
  }
  RunBuilder& End(const CaseRef& ref, const Outcome& outcome, const std::vector<Finding>& findings = {},
                  std::vector<Flag> flags = {}) {
    if (!std::holds_alternative<Blocked>(outcome)) Attempt(ref, outcome, findings);
    return Add(CaseFinished{ref, outcome, 0.25, std::move(flags)});
  }
  RunBuilder& End(const std::string& id, const Outcome& outcome, const std::vector<Finding>& findings = {},
                  std::vector<Flag> flags = {}) {
    return End(CaseRef{id, ""}, outcome, findings, std::move(flags));
  }
  // A planned case that passes.
  RunBuilder& Pass(const std::string& id) {
    Plan(id);
    return End(id, Passed{});
  }
  // A planned case, in plan order, that ends like this.
  RunBuilder& Fail(const std::string& id, const Finding& finding, Layer layer = Layer::kOther) {
    Plan(id, layer);
    return End(id, Failed{}, {finding});
  }

  std::vector<Event> Events() const {
    std::vector<Event> events;
    const auto add = [&](EventBody body) {
      const auto seq = static_cast<int64_t>(events.size()) + 1;
      events.push_back({seq, seq * 10, std::move(body)});
    };
    add(run);
    for (const Waiver& waiver : waivers) add(WaiverDeclared{waiver});
    for (const CasePlanned& planned : cases_) add(planned);
    if (plan_ended) add(PlanEnd{static_cast<int64_t>(cases_.size()) + unrecorded, "plan-sha"});
    for (const EventBody& body : body_) add(body);
    if (finished) add(RunFinished{1.5});
    return events;
  }
  Summary Summarize() const {
    Fold fold;
    for (const Event& event : Events()) fold.Apply(event);
    return fold.summary();
  }
  Verdict Judged() const { return Judge(Summarize()); }

  RunStarted run;
  std::vector<Waiver> waivers;
  bool plan_ended = true, finished = true;
  int64_t unrecorded = 0;  // cases PlanEnd counts but the record lacks

 private:
  std::vector<CasePlanned> cases_;
  std::vector<EventBody> body_;
  std::map<CaseRef, int> attempts_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_RUN_BUILDER_H_
