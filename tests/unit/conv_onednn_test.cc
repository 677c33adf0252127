// The reference against an implementation of somebody else's: oneDNN's convolutions in float32, on integers
// that are exact in it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <unordered_map>

#include "conv_shapes.h"

namespace cudnn_ci {
namespace {

using dnnl::memory;

// How many random shapes; the test "every_shape" asks for 1,000.
int Shapes() {
  const char* text = std::getenv("CUDNN_CI_SHAPES");
  return text ? std::atoi(text) : 60;
}

// One convolution as oneDNN describes it: all three axes, groups always there.
class OneDnn {
 public:
  explicit OneDnn(const ConvShape& s)
      : shape_(s),
        strides_(s.stride.begin(), s.stride.end()),
        dilates_{s.dilation[0] - 1, s.dilation[1] - 1, s.dilation[2] - 1},
        before_(s.pad.begin(), s.pad.end()),
        after_(s.pad_after.begin(), s.pad_after.end()),
        x_({s.n, s.c, s.in[0], s.in[1], s.in[2]}, memory::data_type::f32, memory::format_tag::ncdhw),
        w_({s.groups, s.FiltersPerGroup(), s.ChannelsPerGroup(), s.kernel[0], s.kernel[1], s.kernel[2]},
           memory::data_type::f32, memory::format_tag::goidhw),
        y_({s.n, s.k, s.out[0], s.out[1], s.out[2]}, memory::data_type::f32, memory::format_tag::ncdhw) {}

  std::vector<std::int16_t> Run(const Problem& problem, const Inputs& in) {
    const dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, x_, w_, y_, strides_,
         dilates_, before_, after_},
        engine_);
    switch (problem.operation) {
      case Operation::kBackwardData: {
        const dnnl::convolution_backward_data::primitive_desc data(
            {dnnl::algorithm::convolution_direct, x_, w_, y_, strides_, dilates_, before_, after_}, engine_,
            forward);
        return Execute(dnnl::convolution_backward_data(data),
                       {{DNNL_ARG_DIFF_DST, Filled(y_, in.a)}, {DNNL_ARG_WEIGHTS, Filled(w_, in.b)}},
                       DNNL_ARG_DIFF_SRC, x_);
      }
      case Operation::kBackwardFilter: {
        const dnnl::convolution_backward_weights::primitive_desc filter(
            {dnnl::algorithm::convolution_direct, x_, w_, y_, strides_, dilates_, before_, after_}, engine_,
            forward);
        return Execute(dnnl::convolution_backward_weights(filter),
                       {{DNNL_ARG_DIFF_DST, Filled(y_, in.a)}, {DNNL_ARG_SRC, Filled(x_, in.b)}},
                       DNNL_ARG_DIFF_WEIGHTS, w_);
      }
      case Operation::kForward:
        break;
    }
    return Execute(dnnl::convolution_forward(forward),
                   {{DNNL_ARG_SRC, Filled(x_, in.a)}, {DNNL_ARG_WEIGHTS, Filled(w_, in.b)}}, DNNL_ARG_DST,
                   y_);
  }

 private:
  memory Filled(const memory::desc& desc, const std::vector<std::int8_t>& values) {
    memory filled(desc, engine_);
    auto* to = static_cast<float*>(filled.get_data_handle());
    for (const std::int8_t v : values) *to++ = v;
    return filled;
  }
  std::vector<std::int16_t> Execute(const dnnl::primitive& primitive,
                                    std::unordered_map<int, memory> arguments, int result,
                                    const memory::desc& desc) {
    memory output(desc, engine_);
    arguments.insert({result, output});
    primitive.execute(stream_, arguments);
    stream_.wait();
    const auto* from = static_cast<const float*>(output.get_data_handle());
    const auto count = static_cast<std::int64_t>(desc.get_size() / sizeof(float));
    return {from, from + count};
  }

  const ConvShape shape_;
  const memory::dims strides_, dilates_, before_, after_;
  const memory::desc x_, w_, y_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
};

TEST(OneDnnTest, AgreesOnRandomShapesInEveryOperation) {
  std::mt19937 random(11);
  for (int i = 0; i < Shapes(); ++i) {
    const ConvShape shape = RandomShape(random, 1 + static_cast<std::size_t>(i % 3));
    for (const Operation operation : kOperations) {
      const Problem problem = {operation, shape};
      const Reference r = MakeReference(problem, operation == Operation::kForward ? Recipe() : Sparse());
      ASSERT_EQ(r.y, OneDnn(shape).Run(problem, r.inputs)) << problem.Text();
    }
  }
}

}  // namespace
}  // namespace cudnn_ci
