#include "modules/clippable_linear.hpp"

namespace oomplan::estimator {

ClippableLinear::ClippableLinear(const Attributes& a, Builder& b, const std::string& name, std::int64_t in,
                                 std::int64_t out) {
  if (b.facts.adapts() && b.targeted(name, false))
    a.unmodelled("LoRA by names that the tower's Gemma4ClippableLinear has too, which peft refuses,");
  linear_ = Linear(b, name + ".linear", in, out, false);
  if (!a.flag("clipped", false)) return;
  Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
  for (Tensor& limit : limits_) limit = b.torch.empty({}, b.facts.weights, "buffer");
}

Tensor ClippableLinear::operator()(Play& play, const Tensor& x) const {
  if (!limits_[0]) return linear_(play, x);
  Torch& t = play.torch;
  Tensor hidden = t.clamp(x);
  hidden = linear_(play, hidden);
  return t.clamp(hidden);
}

}  // namespace oomplan::estimator
