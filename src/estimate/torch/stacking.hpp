// torch.stack and torch.cat of as many tensors as a loop made.
#pragma once

#include <vector>

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.stack(parts, dim=-1), of `count` parts where those here stand for more (torch/loops.hpp). Its one node is
/// played as one for each part, which hand the gradient on; they run before all that made the parts, as the one does.
Tensor stack_last(Torch& t, const std::vector<Tensor>& parts, std::int64_t count);
inline Tensor stack_last(Torch& t, const std::vector<Tensor>& parts) { return stack_last(t, parts, std::ssize(parts)); }

/// The same of dim=0.
Tensor stack_first(Torch& t, const std::vector<Tensor>& parts);

/// torch.cat(parts, dim), played in the same way; with channels last where all parts have them so.
Tensor cat_all(Torch& t, const std::vector<Tensor>& parts, int dim);

/// torch.split(x, size) into any number of parts: the one node has as many outputs as there are parts, one here at most
/// eight. The gradients of eight, put together, wait for those of the others, of which the last ones make the highest
/// moment.
std::vector<Tensor> split_all(Torch& t, const Tensor& x, std::int64_t size);

}  // namespace oomplan::estimator
