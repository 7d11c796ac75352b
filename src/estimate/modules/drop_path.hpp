// Stochastic depth: in training, whole rows are dropped, and the others scaled.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// BeitDropPath and its like: x / keep * floor(rand(rows) + keep).
inline Tensor drop_rows(Torch& t, const Tensor& x) {
  if (!t.training) return x;
  Dims sizes{x->sizes[0]};
  for (int i = 1; i < static_cast<int>(x->sizes.size()); ++i) sizes.push(1);
  Tensor kept = t.empty(sizes, x->dtype, "aten::rand");
  kept = t.empty(sizes, kept->dtype, "aten::add");
  kept = t.empty(sizes, kept->dtype, "aten::floor");
  return t.mul(t.div_scalar(x), kept);
}

}  // namespace oomplan::estimator
