// What the modules of a block that ranks share do around their layers (torch.distributed.tensor.parallel:
// PrepareModuleInput, RowwiseParallel of an embedding).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Each rank has whole heads, or the code that cuts what it has into heads stops: a problem of the builder's.
void check_shared_heads(Builder& builder, std::int64_t heads, std::int64_t kv_heads);

/// What goes into attention and MLP where each rank has its part of the tokens: all of them.
Tensor whole_rows(Play& play, const Tensor& x);

/// An embedding of which each rank has some rows: those of the others are 0 until all are summed. The gradient is of
/// the whole embedding, on each rank.
Tensor shared_embedding(Play& play, const Tensor& weight, const Tensor& ids);

}  // namespace oomplan::estimator
