// The gated delta rule as transformers writes it in Python (torch_chunk_gated_delta_rule): chunks of 64 tokens.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Queries, keys and values: batch × length × heads × width, queries and keys perhaps of fewer heads; the decay and
/// beta: batch × length × heads.
struct DeltaInputs {
  Tensor query{};
  Tensor key{};
  Tensor value{};
  Tensor decay{};
  Tensor beta{};
};

/// What `made` makes of each, in the order of the list in the frameworks' code, which keeps them until all are done.
DeltaInputs each_of(Torch& t, const DeltaInputs& in, Tensor (*made)(Torch&, const Tensor&));

/// Rows (dimension 2) in chunks of delta_chunk, which they fill.
Tensor in_chunks(Torch& t, const Tensor& x);

/// x.transpose(1, 2).contiguous().to(torch.float32)
Tensor heads_in_front(Torch& t, const Tensor& x);

/// A row of a chunk's system, and the rows above it, with which it is solved.
struct SolvedRow {
  Tensor row{};
  Tensor above{};
};

/// system[..., i, :i] = row + (row.unsqueeze(-1) * above).sum(-2) for each row but the first; `last` keeps the last.
Tensor solved_by_rows(Torch& t, Tensor system, SolvedRow& last);

/// l2norm over the last dimension.
Tensor delta_l2_norm(Torch& t, const Tensor& x);

/// As the values, in the queries' dtype. `state`: gets the last recurrent state, where one asks for it.
Tensor chunk_delta_rule(Torch& t, DeltaInputs in, Tensor* state = nullptr);

/// Older code: queries and keys are repeated to as many heads as the values have before the function is called,
DeltaInputs with_heads_repeated(Torch& t, DeltaInputs in);
/// … which solves each chunk's system row by row.
Tensor chunk_delta_rule_by_rows(Torch& t, DeltaInputs in, Tensor* state = nullptr);

inline constexpr std::int64_t delta_chunk = 64;

}  // namespace oomplan::estimator
