#include "modules/rms_norm.hpp"

#include "modules/liger.hpp"

namespace oomplan::estimator {

Tensor RmsNorm::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  if (play.facts.liger_rms_norm) return liger::rms_norm(t, x, weight_, true);
  Tensor hidden = t.to(x, DType::fp32);
  const Tensor variance = t.mean_last(t.pow_scalar(hidden));
  Tensor scale = t.add_scalar(variance);
  scale = t.rsqrt(scale);
  hidden = t.mul(hidden, scale);
  scale.reset();
  return t.mul(weight_, t.to(hidden, x->dtype));
}

}  // namespace oomplan::estimator
