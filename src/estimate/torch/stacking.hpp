// torch.stack and torch.cat of as many tensors as a loop made.
#pragma once

#include <vector>

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.stack(parts, dim=-1). Its one node is played as one for each part, which hand the gradient on; they run before
/// all that made the parts, as the one does.
Tensor stack_last(Torch& t, const std::vector<Tensor>& parts);

/// The same of dim=0.
Tensor stack_first(Torch& t, const std::vector<Tensor>& parts);

/// torch.cat(parts, dim), so played too. The parts are of one dtype.
Tensor cat_all(Torch& t, const std::vector<Tensor>& parts, int dim);

}  // namespace oomplan::estimator
