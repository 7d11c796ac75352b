// What a rank makes where the placement of a DTensor changes (torch 2.13: torch/distributed/tensor/placement_types.py,
// _redistribute.py, _collective_utils.py; torch/distributed/_functional_collectives.py). `ranks` share the tensor.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// Partial to Replicate: summed over the ranks in a copy. The gradient comes as it is.
Tensor all_reduced(Torch& t, const Tensor& x);
/// DTensor.from_local as Replicate, which copies nothing; it is the gradient that is summed.
Tensor replicated(Torch& t, const Tensor& x);
/// Shard(dim) to Replicate. The gradient is summed, and each rank has its part of it.
Tensor all_gathered(Torch& t, const Tensor& x, int dim, std::int64_t ranks);
/// Partial to Shard(dim), whose gradient is gathered.
Tensor reduce_scattered(Torch& t, const Tensor& x, int dim, std::int64_t ranks);
/// Shard of the last dimension to Replicate, as an output: of its gradient, which all ranks have, each takes its part.
Tensor gathered_output(Torch& t, const Tensor& x, std::int64_t ranks);

}  // namespace oomplan::estimator
