#include "modules/gated_norm.hpp"

namespace oomplan::estimator {
namespace {

/// What is raised goes as soon as the function has returned, unless it is kept for backward.
Tensor silu_of_raised(Torch& t, const Tensor& gate) {
  const Tensor raised = t.to(gate, DType::fp32);
  return t.silu(raised);
}

Tensor sigmoid_of_raised(Torch& t, const Tensor& gate) {
  const Tensor raised = t.to(gate, DType::fp32);
  return t.sigmoid(raised);
}

}  // namespace

GroupedGatedNorm::GroupedGatedNorm(Builder& builder, const std::string& name, std::int64_t width, std::int64_t group)
    : group_(group), weight_(builder.weight(name + ".weight", {width}, Part::norm)), module_(builder.module_id(name)) {}

/// By groups: batch × length × groups × group.
Tensor GroupedGatedNorm::normed(Torch& t, const Tensor& x) const {
  const Tensor groups = t.view(x, {x->sizes[0], x->sizes[1], -1, group_});
  const Tensor variance = t.mean_last(t.pow_scalar(groups));
  return t.mul(groups, t.rsqrt(t.add_scalar(variance)));
}

Tensor GroupedGatedNorm::weighted(Torch& t, const Tensor& x) const {
  const Tensor groups = normed(t, t.to(x, DType::fp32));
  return t.view(t.mul(t.view(weight_, {-1, group_}), groups), x->sizes);
}

Tensor GroupedGatedNorm::operator()(Play& play, const Tensor& x, const Tensor& gate) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor hidden = t.to(x, DType::fp32);
  hidden = t.mul(hidden, silu_of_raised(t, gate));
  const Tensor groups = normed(t, hidden);
  hidden = t.view(groups, x->sizes);
  return t.mul(weight_, t.to(hidden, x->dtype));
}

Tensor GroupedGatedNorm::gated_first(Play& play, const Tensor& x, const Tensor& gate) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor hidden = t.mul(x, silu_of_raised(t, gate));
  hidden = weighted(t, hidden);
  return t.to(hidden, x->dtype);
}

Tensor GroupedGatedNorm::normed_first(Play& play, const Tensor& x, const Tensor& gate) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor hidden = weighted(t, x);
  hidden = t.mul(hidden, silu_of_raised(t, gate));
  return t.to(hidden, x->dtype);
}

NormThenGate::NormThenGate(Builder& builder, const std::string& name, std::int64_t width, bool strict)
    : weight_(builder.weight(name + ".weight", {width}, Part::norm)),
      strict_(strict),
      module_(builder.module_id(name)) {}

Tensor NormThenGate::operator()(Play& play, const Tensor& x, const Tensor& gate) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor hidden = t.to(x, DType::fp32);
  const Tensor variance = t.mean_last(t.pow_scalar(hidden));
  hidden = t.mul(hidden, t.rsqrt(t.add_scalar(variance)));
  hidden = strict_ ? t.mul(t.to(weight_, DType::fp32), hidden) : t.mul(weight_, t.to(hidden, x->dtype));
  hidden = t.mul(hidden, strict_ ? sigmoid_of_raised(t, gate) : silu_of_raised(t, gate));
  return t.to(hidden, x->dtype);
}

}  // namespace oomplan::estimator
