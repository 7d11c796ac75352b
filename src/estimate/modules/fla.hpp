// flash-linear-attention's kernels as fla-core 0.4.1 calls them: the chunked gated delta rule and the gated norm. What
// Triton takes where it measures a kernel for the first time is not in them.
#pragma once

#include "modules/delta_rule.hpp"
#include "play.hpp"

namespace oomplan::estimator::fla {

/// ChunkGatedDeltaRuleFunction with norms of queries and keys within it.
Tensor chunk_gated_delta_rule(Torch& t, const DeltaInputs& in);

/// LayerNormGatedFunction, an RMS norm. x, gate: rows × width.
Tensor rms_norm_gated(Torch& t, const Tensor& x, const Tensor& gate, const Tensor& weight);

}  // namespace oomplan::estimator::fla
