// aten/src/ATen/native: TensorTransformations.cpp (roll), PadNd.cpp, and slices with a step.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.roll(x, shifts, dims) along two dimensions: once for each.
Tensor roll_twice(Torch& t, const Tensor& x);

/// torch.nn.functional.pad of zeros to `sizes`: a copy, also where nothing is added.
Tensor pad_to(Torch& t, const Tensor& x, const Dims& sizes);

/// Every second element of a dimension, from the first or the second on.
Tensor every_second(Torch& t, const Tensor& x, int dim, std::int64_t from);

}  // namespace oomplan::estimator
