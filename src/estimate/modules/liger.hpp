// Liger's layers (liger-kernel 0.8.5: ops/rms_norm.py, rope.py, swiglu.py, geglu.py): one kernel each, whose gradients
// take the place of what they are computed from.
#pragma once

#include "play.hpp"

namespace oomplan::estimator::liger {

/// A row of partial sums each, summed for the weight's gradient: an H100's. Other cards differ by some rows.
inline constexpr std::int64_t multiprocessors = 132;

/// LigerRMSNormFunction. `in_place`: its gradient overwrites the one that it is given, as all models but Gemma's have
/// it.
Tensor rms_norm(Torch& t, const Tensor& x, const Tensor& weight, bool in_place);
/// LigerRopeFunction: q and k, batch × heads × length × head dim, are turned where they are.
void rotate(Torch& t, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin);
/// LigerSiLUMulFunction, and LigerGELUMulFunction alike.
Tensor gated(Torch& t, const Tensor& gate, const Tensor& up);

}  // namespace oomplan::estimator::liger
