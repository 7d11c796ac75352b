#include "torch/upsampling.hpp"

#include "torch/memory_format.hpp"

namespace oomplan::estimator {

namespace {

Tensor like(Torch& t, const Tensor& x, const Dims& sizes, const char* op) {
  return t.empty_strided(sizes, is_channels_last(*x) ? channels_last_strides(sizes) : contiguous_strides(sizes),
                         x->dtype, op);
}

}  // namespace

Tensor upsample_bilinear(Torch& t, const Tensor& input, std::int64_t height, std::int64_t width) {
  const Tensor x = t.raised(input);
  NodeRef node = t.record("UpsampleBilinear2DBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = like(torch, g.in[0], n.dims, "aten::upsample_bilinear2d_backward");
  });
  if (node) node->dims = x->sizes;
  return t.attach(node, like(t, x, {x->sizes[0], x->sizes[1], height, width}, "aten::upsample_bilinear2d"));
}

Tensor upsample_nearest(Torch& t, const Tensor& input, std::int64_t height, std::int64_t width) {
  const Tensor x = t.raised(input);
  NodeRef node = t.record("UpsampleNearest2DBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = like(torch, g.in[0], n.dims, "aten::upsample_nearest2d_backward");
  });
  if (node) node->dims = x->sizes;
  return t.attach(node, like(t, x, {x->sizes[0], x->sizes[1], height, width}, "aten::upsample_nearest2d"));
}

}  // namespace oomplan::estimator
