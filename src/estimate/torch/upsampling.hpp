// aten/src/ATen/native/UpSampleBilinear2d.cpp and UpSampleNearest2d.cpp.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.nn.functional.interpolate(x, (height, width), mode="bilinear") of x (batch × channels × height × width), in
/// x's order of dimensions; autocast raises it.
Tensor upsample_bilinear(Torch& t, const Tensor& x, std::int64_t height, std::int64_t width);

/// The same with mode="nearest".
Tensor upsample_nearest(Torch& t, const Tensor& x, std::int64_t height, std::int64_t width);

}  // namespace oomplan::estimator
