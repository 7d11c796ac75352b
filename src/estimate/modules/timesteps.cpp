#include "modules/timesteps.hpp"

namespace oomplan::estimator {

Tensor timestep_waves(Torch& t, const Tensor& numbers, std::int64_t width, bool flips) {
  const std::int64_t rows = numbers->numel();
  const std::int64_t half = width / 2;
  Tensor angles;
  {
    Tensor exponent = t.empty({half}, DType::fp32, "aten::arange");
    exponent = t.mul_scalar(exponent);
    exponent = t.div_scalar(exponent);
    const Tensor base = t.exp(exponent);
    const Tensor raised = t.to(numbers, DType::fp32);
    angles = t.mul(t.view(raised, {rows, 1}), t.view(base, {1, half}));
  }
  angles = t.mul_scalar(angles);
  const Tensor sine = t.pointwise({&angles}, DType::fp32, "aten::sin");
  const Tensor cosine = t.pointwise({&angles}, DType::fp32, "aten::cos");
  const Tensor waves = t.empty({rows, saturating_mul(2, half)}, DType::fp32, "aten::cat");
  return flips ? t.empty(waves->sizes, DType::fp32, "aten::cat") : waves;
}

}  // namespace oomplan::estimator
