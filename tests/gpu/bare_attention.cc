// What the attention plugin is measured against: builds the same graphs with cudnn-frontend, asks for the
// same plans and runs them as often, and compares nothing. Independent of the project's own code on purpose;
// links cuDNN directly.
//
// Each line of the cases: OPERATION DTYPE LAYOUT MASK WINDOW STATISTICS DETERMINISTIC, then batch, heads,
// length and head size of the queries, heads and length of the keys, and the head size of the values.
#include <cudnn_frontend.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bare_cases.h"
#include "bare_device.h"

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Integers = std::vector<int64_t>;

struct Line {
  std::string operation, dtype, layout, mask, statistics, deterministic;
  int64_t window, batch, q_heads, queries, head_size, kv_heads, keys, v_head_size;

  bool backward() const { return operation == "backward"; }
};

bool Read(const std::string& text, Line* l) {
  std::istringstream in(text);
  in >> l->operation >> l->dtype >> l->layout >> l->mask >> l->window >> l->statistics >> l->deterministic >>
      l->batch >> l->q_heads >> l->queries >> l->head_size >> l->kv_heads >> l->keys >> l->v_head_size;
  const std::vector<std::string> masks = {"none", "causal", "causal_bottom_right", "sliding_window",
                                          "padding"};
  return !in.fail() && (l->dtype == "float16" || l->dtype == "bfloat16") &&
         (l->layout == "bhsd" || l->layout == "bshd") &&
         std::find(masks.begin(), masks.end(), l->mask) != masks.end();
}

void Must(const fe::error_t& error, const char* what) {
  if (error.is_good()) return;
  std::fprintf(stderr, "%s: %s\n", what, error.err_msg.c_str());
  std::exit(1);
}

// Tensors, their memory, and what the memory holds at first.
class Case {
 public:
  Case(cudnnHandle_t handle, const Line& line) : handle_(handle), line_(line) {}

  // False: not supported.
  bool Run() {
    if (!Build()) return false;
    int64_t plan = 0, bytes = 0;
    while (plan < graph_.get_execution_plan_count() && graph_.build_plan_at_index(handle_, plan).is_bad())
      ++plan;
    if (plan == graph_.get_execution_plan_count()) return false;
    Must(graph_.get_workspace_size_plan_at_index(plan, bytes), "workspace");
    const Buffer workspace(static_cast<size_t>(bytes));
    Allocate();
    // Once to verify, three times to measure: as often as the check calls it.
    for (int i = 0; i < 4; ++i)
      Must(graph_.execute_plan_at_index(handle_, pointers_, workspace.get(), plan), "execute");
    Cuda(cuCtxSynchronize(), "synchronize");
    for (const std::unique_ptr<Buffer>& buffer : buffers_) buffer->Download(host_.data());
    return true;
  }

 private:
  bool Build() {
    graph_.set_io_data_type(line_.dtype == "float16" ? fe::DataType_t::HALF : fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    q_ = Input("Q", line_.q_heads, line_.queries, line_.head_size);
    k_ = Input("K", line_.kv_heads, line_.keys, line_.head_size);
    v_ = Input("V", line_.kv_heads, line_.keys, line_.v_head_size);
    if (line_.backward())
      AddBackward();
    else
      AddForward();
    Must(graph_.validate(), "validate");
    return graph_.build_operation_graph(handle_).is_good() &&
           graph_.create_execution_plans({fe::HeurMode_t::A}).is_good();
  }

  Integers Strides(int64_t heads, int64_t length, int64_t size) const {
    if (line_.layout == "bshd") return {length * heads * size, size, heads * size, 1};
    return {heads * length * size, length * size, size, 1};
  }
  Tensor Add(const Tensor& tensor, const Integers& dims, const Integers& strides, size_t element) {
    tensor->set_uid(static_cast<int64_t>(bytes_.size()) + 1).set_dim(dims).set_stride(strides);
    bytes_.push_back(element * static_cast<size_t>(dims[0] * dims[1] * dims[2] * dims[3]));
    return tensor;
  }
  Tensor New(const char* name) { return graph_.tensor(fe::graph::Tensor_attributes().set_name(name)); }
  Tensor Input(const char* name, int64_t heads, int64_t length, int64_t size) {
    return Add(New(name), {line_.batch, heads, length, size}, Strides(heads, length, size), 2);
  }
  Tensor Statistics(const Tensor& tensor) {
    const Integers dims = {line_.batch, line_.q_heads, line_.queries, 1};
    tensor->set_data_type(fe::DataType_t::FLOAT);
    return Add(tensor, dims, {dims[1] * dims[2], dims[2], 1, 1}, 4);
  }
  void Output(const Tensor& tensor, int64_t heads, int64_t length, int64_t size) {
    tensor->set_output(true);
    Add(tensor, {line_.batch, heads, length, size}, Strides(heads, length, size), 2);
  }
  Tensor Lengths(const char* name, int64_t length) {
    const Tensor tensor = New(name);
    tensor->set_data_type(fe::DataType_t::INT32);
    std::vector<int32_t> lengths;
    for (int64_t entry = 0; entry < line_.batch; ++entry)
      lengths.push_back(
          static_cast<int32_t>(std::max<int64_t>(1, length - 1 - entry * length / line_.batch)));
    tables_.emplace_back(bytes_.size(), lengths);
    return Add(tensor, {line_.batch, 1, 1, 1}, {1, 1, 1, 1}, 4);
  }

  template <class Attributes>
  void SetMask(Attributes* attributes) {
    attributes->set_name("attention").set_attn_scale(1.0F);
    if (line_.mask == "causal") attributes->set_causal_mask(true);
    if (line_.mask == "causal_bottom_right") attributes->set_causal_mask_bottom_right(true);
    if (line_.mask == "sliding_window")
      attributes->set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
          .set_diagonal_band_left_bound(static_cast<int>(line_.window))
          .set_diagonal_band_right_bound(0);
    if (line_.mask != "padding") return;
    attributes->set_padding_mask(true);
    attributes->set_seq_len_q(Lengths("lengths of queries", line_.queries));
    attributes->set_seq_len_kv(Lengths("lengths of keys", line_.keys));
  }

  void AddForward() {
    auto attributes = fe::graph::SDPA_attributes();
    attributes.set_generate_stats(line_.statistics == "yes");
    SetMask(&attributes);
    const auto [o, stats] = graph_.sdpa(q_, k_, v_, attributes);
    Output(o, line_.q_heads, line_.queries, line_.v_head_size);
    if (line_.statistics == "yes") Statistics(stats)->set_output(true);
  }
  void AddBackward() {
    const Tensor o = Input("O", line_.q_heads, line_.queries, line_.v_head_size);
    const Tensor d_o = Input("dO", line_.q_heads, line_.queries, line_.v_head_size);
    const Tensor stats = Statistics(New("statistics"));
    auto attributes = fe::graph::SDPA_backward_attributes();
    attributes.set_deterministic_algorithm(line_.deterministic == "yes");
    SetMask(&attributes);
    const auto [dq, dk, dv] = graph_.sdpa_backward(q_, k_, v_, o, d_o, stats, attributes);
    Output(dq, line_.q_heads, line_.queries, line_.head_size);
    Output(dk, line_.kv_heads, line_.keys, line_.head_size);
    Output(dv, line_.kv_heads, line_.keys, line_.v_head_size);
  }

  // All tensors get as many bytes from the host as the check's inputs do; what the bytes are does not matter,
  // but for lengths.
  void Allocate() {
    host_.assign(*std::max_element(bytes_.begin(), bytes_.end()), 0);
    for (size_t i = 0; i < bytes_.size(); ++i) {
      buffers_.push_back(std::make_unique<Buffer>(bytes_[i]));
      buffers_.back()->Upload(host_.data());
      pointers_[static_cast<int64_t>(i) + 1] = buffers_.back()->get();
    }
    for (const auto& [place, lengths] : tables_) buffers_[place]->Upload(lengths.data());
  }

  cudnnHandle_t handle_;
  const Line line_;
  fe::graph::Graph graph_;
  Tensor q_, k_, v_;
  std::vector<size_t> bytes_;  // of each tensor; its uid is one more than its place
  std::vector<std::pair<size_t, std::vector<int32_t>>> tables_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unordered_map<int64_t, void*> pointers_;
  std::vector<char> host_;
};

}  // namespace

BareCases RunCases(const char* path) {
  cudnnHandle_t handle;
  if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) {
    std::fprintf(stderr, "cudnnCreate\n");
    std::exit(1);
  }
  return RunLines(path, [handle](const std::string& text, bool* supported) {
    Line line;
    if (!Read(text, &line)) return false;
    *supported = Case(handle, line).Run();
    return true;
  });
}
