#include "attention/params.h"

#include <algorithm>

namespace cudnn_ci {

AttentionShape AttentionParams::Shape() const {
  AttentionShape s;
  s.batch = q[0], s.q_heads = q[1], s.queries = q[2], s.head_size = q[3];
  s.kv_heads = kv[0], s.keys = kv[1], s.v_head_size = kv.size() > 2 ? kv[2] : q[3];
  s.mask = AttentionMaskFrom(mask);
  if (s.mask == AttentionMask::kSlidingWindow) s.window = window;
  s.bias_shape = AttentionBiasShapeFrom(bias);
  return s;
}

AttentionProblemSpec AttentionParams::Spec(bool backward) const {
  AttentionProblemSpec spec;
  spec.shape = Shape();
  spec.type = DataTypeFrom(dtype);
  spec.layout = AttentionLayoutFrom(layout);
  spec.logits = AttentionLogitsFrom(logits);
  spec.backward = backward;
  spec.statistics = statistics == "yes";
  spec.bias_gradient = backward && bias_gradient == "yes";
  spec.data = AttentionDataFrom(data);
  spec.page_size = page_size;
  for (std::int64_t e = 0; HasLengths(spec.shape.mask) && e < spec.shape.batch; ++e) {
    const auto shortened = [&](std::int64_t length) {
      return static_cast<std::int32_t>(std::max<std::int64_t>(1, length - 1 - e * length / spec.shape.batch));
    };
    spec.shape.q_length.push_back(shortened(spec.shape.queries));
    spec.shape.kv_length.push_back(shortened(spec.shape.keys));
  }
  return spec;
}

}  // namespace cudnn_ci
