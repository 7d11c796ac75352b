#include "modules/attention_mask.hpp"

namespace oomplan::estimator {

Tensor both(Torch& t, const Tensor& result, const Tensor& mask) {
  return t.pointwise({&result, &mask}, DType::boolean, "aten::bitwise_and");
}

Tensor attention_mask(Play& play, Tensor allowed, DType dtype, bool sent) {
  Torch& t = play.torch;
  const Facts& f = play.facts;
  if (sent) {
    const Tensor yes = t.empty({}, DType::boolean, "aten::new_ones");  // What and_masks begins with.
    allowed = both(t, yes, allowed);
    const Tensor padding = t.empty({f.batch, 1, 1, f.past + f.length}, DType::boolean, "aten::index");
    allowed = both(t, allowed, padding);
  }
  const Dims sizes{f.batch, 1, f.length, f.past + f.length};
  if (f.attention == Attention::eager) return t.empty(sizes, dtype, "aten::where");
  return t.expand(allowed, sizes);
}

Tensor number_mask(Play& play, DType dtype) {
  Torch& t = play.torch;
  const Facts& f = play.facts;
  const Dims sizes{f.batch, 1, f.length, f.past + f.length};
  Tensor square = t.empty({f.length, f.past + f.length}, dtype, "aten::full");
  square = t.empty(square->sizes, dtype, "aten::triu");
  Tensor mask = t.empty(sizes, dtype, "aten::clone");
  {
    const Tensor sum = t.empty(sizes, dtype, "aten::add");
    const Tensor padding = t.pointwise({&sum}, DType::boolean, "aten::eq");
    t.pointwise({&mask}, dtype, "aten::masked_fill");
  }
  square.reset();
  // AttentionMaskConverter._unmask_unattended
  const Tensor lowest = t.pointwise({&mask}, DType::boolean, "aten::eq");
  return t.pointwise({&mask}, dtype, "aten::mul");
}

}  // namespace oomplan::estimator
