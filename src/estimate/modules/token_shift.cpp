#include "modules/token_shift.hpp"

#include "torch/scans.hpp"

namespace oomplan::estimator {

Tensor shifted_by_one(Torch& t, const Tensor& x) { return pad(t, x, 1, 1, -1); }

Tensor mixed(Torch& t, const Tensor& x, const Tensor& shifted, const Tensor& share) {
  const Tensor own = t.mul(x, share);
  return t.add(own, t.mul(shifted, rest_of(t, share)));
}

}  // namespace oomplan::estimator
