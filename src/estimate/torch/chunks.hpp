// torch.split into any number of parts.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// As Torch::split, whose nodes have eight outputs: of more parts, eight are split again. The gradient of all is put
/// together while those of eighths are there, as many bytes as those of the parts.
std::vector<Tensor> split_into_chunks(Torch& t, const Tensor& x, std::int64_t size, int dim);

/// The sizes of the parts of `total` that are to be played, where each lets go of all it makes before the next: of the
/// full ones the first two, as all later ones are the second over again, and what is left.
std::vector<std::int64_t> distinct_parts(std::int64_t total, std::int64_t size);

}  // namespace oomplan::estimator
