#include "attention/graph.h"

#include <cudnn_frontend.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attention/frontend_calls.h"

namespace cudnn_ci {
namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

// The graph's plans, and what the frontend keeps to itself of them.
class PlannedGraph : public fe::graph::Graph {
 public:
  std::vector<int> NumericalNotes(std::int64_t plan) const {
    std::vector<int> notes;
    const auto& all = plans.numeric_notes;
    if (plan < static_cast<std::int64_t>(all.size()))
      for (const auto& note : all[static_cast<std::size_t>(plan)]) notes.push_back(static_cast<int>(note));
    return notes;
  }
};

// Uids, in the operands' order: inputs from 1 on, outputs from 101 on.
constexpr std::int64_t kFirstInput = 1, kFirstOutput = 101;

class AttentionGraph {
 public:
  AttentionGraph(const Session& session, const AttentionProblemSpec& spec, bool deterministic)
      : session_(session), spec_(spec), deterministic_asked_(deterministic) {
    Do("the graph", [&] {
      graph_->set_io_data_type(TypeOf(spec.type))
          .set_intermediate_data_type(fe::DataType_t::FLOAT)
          .set_compute_data_type(fe::DataType_t::FLOAT);
      for (const AttentionTensor& tensor : spec_.Inputs()) AddInput(tensor);
      if (spec_.layout == AttentionLayout::kThd)
        for (const AttentionTensor& tensor : spec_.Inputs()) SetOffsets(In(tensor.role), tensor.role);
      if (spec.backward)
        AddBackward(deterministic);
      else
        AddForward();
      return fe::error_t();
    });
    Do("validate", [&] { return graph_->validate(); });
    Do("the operation graph", [&] { return graph_->build_operation_graph(session.handle()); });
  }

  // What the graph holds is destroyed through the library.
  ~AttentionGraph() {
    const FrontendCalls calls = Calls();
    inputs_.clear();
    graph_ = nullptr;
  }
  AttentionGraph(const AttentionGraph&) = delete;
  AttentionGraph& operator=(const AttentionGraph&) = delete;

  // Adds the plans of a list; none where the library has no such list for this problem.
  void AddList(fe::HeurMode_t mode) {
    const FrontendCalls calls = Calls();
    try {
      const fe::error_t error = graph_->create_execution_plans({mode});
      if (error.is_bad() && calls.failure() != 0 && !Unsupported(calls.failure()))
        throw Failure("heuristics", error.err_msg, calls.failure());
    } catch (const CudnnFailure&) {
      throw;
    } catch (const std::exception& e) {
      throw Failure("heuristics", e.what(), calls.failure());
    }
  }
  std::int64_t Engines() {
    std::int64_t count = 0;
    Do("the engines' number", [&] { return graph_->get_engine_count(count); });
    return count;
  }
  // The plan's index, or less than 0: the engine is not for this problem.
  std::int64_t AddEngine(std::int64_t engine) {
    const FrontendCalls calls = Calls();
    try {
      if (graph_->create_execution_plan(engine, {}).is_bad()) return -1;
    } catch (const std::exception&) {
      return -1;
    }
    return Plans() - 1;
  }

  std::int64_t Plans() const { return graph_->get_execution_plan_count(); }
  // -1 where the library does not say.
  std::int64_t EngineOf(std::int64_t plan) const try {
    std::int64_t engine = -1;
    std::unordered_map<fe::KnobType_t, std::int64_t> knobs;
    const FrontendCalls calls = Calls();
    return graph_->get_engine_and_knobs_at_index(plan, engine, knobs).is_good() ? engine : -1;
  } catch (const std::exception&) {
    return -1;
  }
  // "eng6_k24=26"; empty where the library does not say.
  std::string NameOf(std::int64_t plan) const try {
    std::string name;
    const FrontendCalls calls = Calls();
    return graph_->get_plan_name_at_index(plan, name).is_good() ? name : "";
  } catch (const std::exception&) {
    return "";
  }
  bool Repeats(bool noted) const { return RepeatsBits(spec_, deterministic_asked_, noted); }
  std::vector<int> NotesOf(std::int64_t plan) const { return graph_->NumericalNotes(plan); }

  std::size_t Build(std::int64_t plan) {
    Do("the execution plan", [&] { return graph_->build_plan_at_index(session_.handle(), plan); });
    std::int64_t bytes = 0;
    Do("its workspace", [&] { return graph_->get_workspace_size_plan_at_index(plan, bytes); });
    return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0));
  }

  void Run(std::int64_t plan, const VariantPack& memory) {
    std::unordered_map<std::int64_t, void*> pointers;
    const auto at = [this](const void* operand, const AttentionTensor& tensor) -> void* {
      const auto bytes = static_cast<std::size_t>(tensor.offset) * SizeOf(spec_.TypeOf(tensor));
      return const_cast<char*>(static_cast<const char*>(operand) + bytes);
    };
    const std::vector<AttentionTensor> inputs = spec_.Inputs(), outputs = spec_.Outputs();
    std::int64_t uid = kFirstInput;
    for (const AttentionTensor& tensor : inputs) pointers[uid++] = at(memory.inputs[tensor.operand], tensor);
    uid = kFirstOutput;
    for (const AttentionTensor& tensor : outputs)
      pointers[uid++] = at(memory.outputs[tensor.operand], tensor);
    Do(
        "a built plan",
        [&] { return graph_->execute_plan_at_index(session_.handle(), pointers, memory.workspace, plan); },
        false);
  }

 private:
  static fe::DataType_t TypeOf(DataType type) {
    if (type == DataType::kFloat16) return fe::DataType_t::HALF;
    if (type == DataType::kFloat8E4m3) return fe::DataType_t::FP8_E4M3;
    if (type == DataType::kInt32) return fe::DataType_t::INT32;
    return type == DataType::kFloat32 ? fe::DataType_t::FLOAT : fe::DataType_t::BFLOAT16;
  }

  FrontendCalls Calls() const { return {session_.cudnn(), session_.driver()}; }

  bool Unsupported(int status) const {
    return session_.cudnn().IsUnsupported(static_cast<cudnnStatus_t>(status));
  }

  // What the library answered; where it was not asked, the frontend has refused.
  CudnnFailure Failure(const std::string& what, const std::string& text, int status) const {
    const CudnnApi& api = session_.cudnn();
    const std::string by = "cudnn-frontend " + FrontendVersion() + ", " + what + ": " + text.substr(0, 300);
    if (status == 0) return {by + " (cuDNN was not asked)", true, 0, RefusalCause::kOperation};
    return {by + "; cuDNN answered " + api.Describe(static_cast<cudnnStatus_t>(status)), Unsupported(status),
            status, CauseOf(api.major(), status)};
  }

  // Calls the frontend; throws CudnnFailure alone. `may_refuse`: no answer of the library is a refusal.
  template <class Call>
  void Do(const char* what, Call call, bool may_refuse = true) const {
    const FrontendCalls calls = Calls();
    std::string text;
    try {
      const fe::error_t error = call();
      if (error.is_good()) return;
      text = error.err_msg;
    } catch (const std::exception& e) {
      text = e.what();
    }
    const CudnnFailure failure = Failure(what, text, calls.failure());
    throw may_refuse ? failure : CudnnFailure(failure.what(), false, failure.status());
  }

  // A tensor in pages is one of pages.
  static std::vector<std::int64_t> DimsOf(const AttentionTensor& t) {
    if (t.page_size == 0) return {t.batch, t.heads, t.length, t.size};
    return {t.Places() / (t.heads * t.page_size * t.size), t.heads, t.page_size, t.size};
  }
  static std::vector<std::int64_t> StridesOf(AttentionTensor t) {
    if (t.page_size > 0) t.length = t.page_size;
    const auto strides = t.Strides();
    return {strides.begin(), strides.end()};
  }
  const Tensor& In(AttentionRole role) const { return inputs_.at(role); }
  void AddInput(const AttentionTensor& tensor) {
    inputs_[tensor.role] =
        graph_->tensor(fe::graph::Tensor_attributes()
                           .set_name(std::string("input ") + Name(tensor.role))
                           .set_uid(kFirstInput + static_cast<std::int64_t>(inputs_.size()))
                           .set_dim(DimsOf(tensor))
                           .set_stride(StridesOf(tensor))
                           .set_data_type(TypeOf(spec_.TypeOf(tensor))));
  }
  // Of sequences behind one another.
  void SetOffsets(const Tensor& tensor, AttentionRole role) const {
    if (role == AttentionRole::kQ || role == AttentionRole::kDq)
      tensor->set_ragged_offset(In(AttentionRole::kOffsetsQ));
    if (role == AttentionRole::kK || role == AttentionRole::kDk)
      tensor->set_ragged_offset(In(AttentionRole::kOffsetsK));
    if (role == AttentionRole::kV || role == AttentionRole::kDv)
      tensor->set_ragged_offset(In(AttentionRole::kOffsetsV));
    if (role == AttentionRole::kO || role == AttentionRole::kDo)
      tensor->set_ragged_offset(In(AttentionRole::kOffsetsO));
  }
  void SetOutput(const Tensor& tensor, std::size_t place) const {
    const AttentionTensor as = spec_.Outputs()[place];
    tensor->set_output(true)
        .set_uid(kFirstOutput + static_cast<std::int64_t>(place))
        .set_dim({as.batch, as.heads, as.length, as.size})
        .set_stride(StridesOf(as))
        .set_data_type(TypeOf(spec_.TypeOf(as)));
    if (spec_.layout == AttentionLayout::kThd) SetOffsets(tensor, as.role);
  }

  // Forward and backward have the same names for the same things.
  template <class Attributes>
  void SetMask(Attributes* attributes) const {
    const AttentionShape& shape = spec_.shape;
    if (HasBias(shape.mask)) attributes->set_bias(In(AttentionRole::kBias));
    switch (shape.mask) {
      case AttentionMask::kNone:
      case AttentionMask::kBias:
        break;
      case AttentionMask::kCausal:
      case AttentionMask::kBiasCausal:
        attributes->set_causal_mask(true);
        break;
      case AttentionMask::kCausalBottomRight:
        attributes->set_causal_mask_bottom_right(true);
        break;
      case AttentionMask::kSlidingWindow:
        attributes->set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
            .set_diagonal_band_left_bound(static_cast<int>(shape.window))
            .set_diagonal_band_right_bound(0);
        break;
      case AttentionMask::kPadding:
      case AttentionMask::kBiasPadding:
        attributes->set_padding_mask(true)
            .set_seq_len_q(In(AttentionRole::kLengthsQ))
            .set_seq_len_kv(In(AttentionRole::kLengthsKv));
        break;
    }
  }

  void AddForward() {
    auto attributes = fe::graph::SDPA_attributes();
    attributes.set_name("attention").set_generate_stats(spec_.statistics).set_attn_scale(spec_.Scale());
    SetMask(&attributes);
    if (spec_.page_size > 0)
      attributes.set_paged_attention_k_table(In(AttentionRole::kPagesK))
          .set_paged_attention_v_table(In(AttentionRole::kPagesV))
          .set_paged_attention_max_seq_len_kv(static_cast<int>(spec_.shape.keys));
    using Role = AttentionRole;
    std::vector<Tensor> outputs;
    if (spec_.Scaled()) {
      const auto [o, stats, amax_s, amax_o] = graph_->sdpa_fp8(
          In(Role::kQ), In(Role::kK), In(Role::kV), In(Role::kDescaleQ), In(Role::kDescaleK),
          In(Role::kDescaleV), In(Role::kDescaleS), In(Role::kScaleS), In(Role::kScaleO), attributes);
      outputs = {o, stats, amax_s, amax_o};
    } else {
      const auto [o, stats] = graph_->sdpa(In(Role::kQ), In(Role::kK), In(Role::kV), attributes);
      outputs = {o, stats};
    }
    if (!spec_.statistics) outputs.erase(outputs.begin() + 1);
    for (std::size_t i = 0; i < outputs.size(); ++i) SetOutput(outputs[i], i);
  }

  void AddBackward(bool deterministic) {
    if (spec_.Scaled()) return AddScaledBackward(deterministic);
    auto attributes = fe::graph::SDPA_backward_attributes();
    attributes.set_name("attention").set_attn_scale(spec_.Scale()).set_deterministic_algorithm(deterministic);
    SetMask(&attributes);
    if (spec_.bias_gradient) {
      const Tensor d_bias = graph_->tensor(fe::graph::Tensor_attributes().set_name("dBias"));
      SetOutput(d_bias, 3);
      attributes.set_dbias(d_bias);
    }
    const auto outputs = graph_->sdpa_backward(In(AttentionRole::kQ), In(AttentionRole::kK),
                                               In(AttentionRole::kV), In(AttentionRole::kO),
                                               In(AttentionRole::kDo), In(AttentionRole::kStats), attributes);
    for (std::size_t i = 0; i < outputs.size(); ++i) SetOutput(outputs[i], i);
  }

  void AddScaledBackward(bool deterministic) {
    using Role = AttentionRole;
    auto attributes = fe::graph::SDPA_fp8_backward_attributes();
    attributes.set_name("attention").set_attn_scale(spec_.Scale()).set_deterministic_algorithm(deterministic);
    SetMask(&attributes);
    const auto outputs = graph_->sdpa_fp8_backward(
        In(Role::kQ), In(Role::kK), In(Role::kV), In(Role::kO), In(Role::kDo), In(Role::kStats),
        In(Role::kDescaleQ), In(Role::kDescaleK), In(Role::kDescaleV), In(Role::kDescaleO),
        In(Role::kDescaleDo), In(Role::kDescaleS), In(Role::kDescaleDp), In(Role::kScaleS),
        In(Role::kScaleDq), In(Role::kScaleDk), In(Role::kScaleDv), In(Role::kScaleDp), attributes);
    for (std::size_t i = 0; i < outputs.size(); ++i) SetOutput(outputs[i], i);
  }

  const Session& session_;
  const AttentionProblemSpec spec_;
  const bool deterministic_asked_;
  std::unique_ptr<PlannedGraph> graph_ = std::make_unique<PlannedGraph>();
  std::map<AttentionRole, Tensor> inputs_;
};

class AttentionCandidate : public Candidate {
 public:
  AttentionCandidate(std::shared_ptr<AttentionGraph> graph, std::int64_t plan, std::string list)
      : graph_(std::move(graph)), plan_(plan), list_(std::move(list)) {}

  // Asked of the library only now: most of a list's plans are never looked at.
  std::string Name() const override {
    const std::string name = graph_->NameOf(plan_);
    return list_ + ", " + (name.empty() ? "engine " + std::to_string(number()) : name);
  }
  std::size_t Prepare() override {
    if (!built_) workspace_bytes_ = graph_->Build(plan_);
    built_ = true;
    return workspace_bytes_;
  }
  bool deterministic() const override {
    const std::vector<int> notes = graph_->NotesOf(plan_);
    const bool noted = std::find(notes.begin(), notes.end(),
                                 static_cast<int>(fe::NumericalNote_t::NONDETERMINISTIC)) != notes.end();
    return graph_->Repeats(noted);
  }
  std::int64_t number() const override { return graph_->EngineOf(plan_); }
  void Run(const VariantPack& pack) override { graph_->Run(plan_, pack); }

 private:
  const std::shared_ptr<AttentionGraph> graph_;
  const std::int64_t plan_;
  const std::string list_;
  bool built_ = false;
  std::size_t workspace_bytes_ = 0;
};

struct List {
  const char* choice;
  const char* name;
  fe::HeurMode_t mode;
};
constexpr List kLists[] = {{"heuristics_a", "heuristics A", fe::HeurMode_t::A},
                           {"heuristics_b", "heuristics B", fe::HeurMode_t::B},
                           {"fallback", "fallback", fe::HeurMode_t::FALLBACK}};

void AddList(const std::shared_ptr<AttentionGraph>& graph, const List& list, Candidates* candidates) {
  const std::int64_t first = graph->Plans();
  graph->AddList(list.mode);
  for (std::int64_t plan = first; plan < graph->Plans(); ++plan)
    candidates->list.push_back(std::make_unique<AttentionCandidate>(
        graph, plan, std::string(list.name) + " " + std::to_string(plan - first)));
}

}  // namespace

std::string FrontendVersion() {
  return std::to_string(CUDNN_FRONTEND_MAJOR_VERSION) + "." + std::to_string(CUDNN_FRONTEND_MINOR_VERSION) +
         "." + std::to_string(CUDNN_FRONTEND_PATCH_VERSION);
}

Candidates AttentionCandidates(const Session& session, const AttentionProblemSpec& spec, bool deterministic,
                               const std::string& choice) {
  const bool every = choice == "every", automatic = choice == "auto";
  const auto make = [&session, spec, deterministic] {
    return std::make_shared<AttentionGraph>(session, spec, deterministic);
  };
  Candidates candidates;
  candidates.asked = "cudnn-frontend's execution plans";
  // A graph of its own for each list: the frontend keeps the plans of the last one alone.
  for (const List& list : kLists) {
    if (every || choice == list.choice || (automatic && list.mode == fe::HeurMode_t::A))
      AddList(make(), list, &candidates);
    if (automatic && list.mode == fe::HeurMode_t::FALLBACK)
      candidates.more = [make, &list](Candidates* c) { AddList(make(), list, c); };
  }
  if (!every) return candidates;
  const std::int64_t engines = make()->Engines();
  for (std::int64_t engine = 0; engine < engines; ++engine) {
    const std::shared_ptr<AttentionGraph> graph = make();
    if (const std::int64_t plan = graph->AddEngine(engine); plan >= 0)
      candidates.list.push_back(std::make_unique<AttentionCandidate>(graph, plan, "every engine"));
  }
  return candidates;
}

}  // namespace cudnn_ci
