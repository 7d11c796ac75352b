#include "modules/altup.hpp"

#include <fmt/format.h>

#include "torch/scans.hpp"

namespace oomplan::estimator {

AltUpRouter::AltUpRouter(Builder& builder, const std::string& module, std::int64_t width, std::int64_t inputs)
    : modality_router_(builder, module + ".modality_router", width, inputs, false),
      router_norm_(builder, module + ".router_norm", width, RmsStyle::raised) {
  Restore bucket(builder.torch.recorder.scope.bucket, Bucket::inputs);
  input_scale_ = builder.torch.empty({}, builder.facts.weights, "buffer");
}

Tensor AltUpRouter::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  const Tensor inputs = t.mul(router_norm_(play, x), input_scale_);
  const Tensor routed = modality_router_(play, inputs);
  return t.to(t.tanh(t.to(routed, DType::fp32)), x->dtype);
}

AltUpProjections::AltUpProjections(Builder& builder, const std::string& module, std::int64_t width,
                                   std::int64_t inputs) {
  for (std::int64_t i = 0; i + 1 < inputs; ++i)
    projections_.emplace_back(builder, fmt::format("{}.{}", module, i), width, width, false);
}

void AltUpProjections::measure(Play& play, Streams& streams, const Tensor& first) {
  Torch& t = play.torch;
  streams.target_magnitude = t.pow_scalar(t.mean_last(t.pow_scalar(first)));
}

namespace {

/// torch.maximum with a number on the device. Its backward makes tensors of the magnitudes' size alone.
Tensor at_least(Torch& t, const Tensor& x) {
  const Tensor epsilon = t.empty({}, DType::fp32, "aten::_to_copy");
  NodeRef node = t.record("MaximumBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor self = torch.unpack(n, 0);
    const Tensor equal = torch.pointwise({&self}, DType::boolean, "aten::eq");
    const Tensor half = torch.div_scalar(g.in[0]);
    g.out[0] = torch.pointwise({&equal, &half}, half->dtype, "aten::where");
    torch.pointwise({&self}, DType::boolean, "aten::lt");
  });
  t.save(node, 0, x);
  t.save(node, 1, epsilon);
  return t.attach(node, t.pointwise({&x}, x->dtype, "aten::maximum"));
}

}  // namespace

void AltUpProjections::add(Play& play, Streams& streams, std::size_t i, const Tensor& x) const {
  Torch& t = play.torch;
  streams.projected = projections_[i](play, x);
  Tensor current = t.to(streams.projected, streams.dtype);
  streams.magnitude = t.mean_last(t.pow_scalar(current));
  streams.magnitude = sqrt(t, at_least(t, streams.magnitude));
  current = t.div(t.mul(current, streams.target_magnitude), streams.magnitude);
  streams.parts.push_back(current);
}

}  // namespace oomplan::estimator
