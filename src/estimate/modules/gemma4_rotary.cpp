#include "modules/gemma4_rotary.hpp"

namespace oomplan::estimator {

Tensor turned_before_heads(Torch& t, const Tensor& x, const Tensor& cos_of, const Tensor& sin_of) {
  const Tensor cos = t.unsqueeze(cos_of, 2);
  const Tensor sin = t.unsqueeze(sin_of, 2);
  const Tensor straight = t.mul(x, cos);
  const std::int64_t half = x->sizes.back() / 2;
  Tensor crossed;
  {
    const Tensor x1 = t.slice(x, 3, 0, half);
    const Tensor x2 = t.slice(x, 3, half, half);
    crossed = t.cat({t.neg(x2), x1}, 3);
  }
  crossed = t.mul(crossed, sin);
  return t.add(straight, crossed);
}

}  // namespace oomplan::estimator
