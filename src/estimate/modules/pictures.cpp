#include "modules/pictures.hpp"

#include "torch/convolution.hpp"

namespace oomplan::estimator {

Conv2d::Conv2d(Builder& b, const std::string& name, const Shape& shape) : shape_(shape) {
  const std::int64_t in = shape.in / std::max<std::int64_t>(shape.groups, 1);
  weight_ = b.convolution(name, {shape.out, in, shape.kernel, shape.kernel}, true);
  if (shape.bias) bias_ = b.weight(name + ".bias", {shape.out}, Part::bias);
  adapter_ = ConvAdapter(b, name, shape.in, shape.out, {shape.kernel, shape.kernel}, shape.groups);
}

Tensor Conv2d::operator()(Play& play, const Tensor& x) const {
  Tensor result = conv2d(play.torch, x, weight_, bias_, shape_.padding, shape_.stride);
  return adapter_(play, x, std::move(result), [&](const Tensor& input, const Tensor& weight, bool single) {
    return conv2d(play.torch, input, weight, {}, single ? 0 : shape_.padding, single ? 1 : shape_.stride);
  });
}

BatchNorm2d::BatchNorm2d(Builder& b, const std::string& name, std::int64_t channels)
    : weight_(b.weight(name + ".weight", {channels}, Part::norm)),
      bias_(b.weight(name + ".bias", {channels}, Part::norm)) {
  Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
  mean_ = b.torch.empty({channels}, b.facts.weights, "buffer");
  variance_ = b.torch.empty({channels}, b.facts.weights, "buffer");
  batches_ = b.torch.empty({}, DType::int64, "buffer");
}

// derivatives.yaml: native_batch_norm_backward, of the input, the weight and what was measured of the batch.
Tensor BatchNorm2d::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  NodeRef node = t.record("NativeBatchNormBackward0", {&x, &weight_, &bias_}, [](Torch& torch, Node& n, Grads& g) {
    const char* op = "aten::native_batch_norm_backward";
    const Tensor input = torch.unpack(n, 0);
    const Tensor weight = torch.unpack(n, 1);
    const Tensor mean = torch.unpack(n, 2);
    const Tensor deviation = torch.unpack(n, 3);
    if (n.needs(0)) g.out[0] = torch.empty(input->sizes, input->dtype, op);
    if (n.needs(1)) g.out[1] = torch.empty(weight->sizes, weight->dtype, op);
    if (n.needs(2)) g.out[2] = torch.empty(weight->sizes, weight->dtype, op);
  });
  t.save(node, 0, x);
  t.save(node, 1, weight_);
  const Tensor out = t.empty(x->sizes, x->dtype, "aten::native_batch_norm");
  t.save_output(node, 2, t.empty(weight_->sizes, DType::fp32, "aten::native_batch_norm"));
  t.save_output(node, 3, t.empty(weight_->sizes, DType::fp32, "aten::native_batch_norm"));
  return t.attach(node, out);
}

PictureSize picture_size(const Builder& b, std::int64_t usual) {
  const Images& i = b.facts.images;
  return {i.height > 0 ? i.height : usual, i.width > 0 ? i.width : usual};
}

namespace {

Tensor mean(Torch& t, const Tensor& x, const Dims& sizes) {
  NodeRef node = t.record("MeanBackward1", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::div");
  });
  if (node) node->dims = x->sizes;
  return t.attach(node, t.empty(sizes, x->dtype, "aten::mean"));
}

}  // namespace

Tensor mean_of_pixels(Torch& t, const Tensor& x) { return mean(t, x, {x->sizes[0], x->sizes[1]}); }

Tensor mean_of_rows(Torch& t, const Tensor& x) { return mean(t, x, {x->sizes[0], x->sizes[2]}); }

}  // namespace oomplan::estimator
