// The policy's weights on their way to vLLM, before it writes completions (trl 1.16: generation/vllm_generation.py,
// VLLMGeneration.sync_weights).
#pragma once

#include "recipe.hpp"

namespace oomplan::estimator {

/// LoRA's adapters are merged into the weights meanwhile (peft 0.21: tuners/lora/layer.py and bnb.py, merge and
/// unmerge), and a server gets all weights in pieces of a GiB (vllm: distributed/weight_transfer/packed_tensor.py).
void sync_weights(Stage& stage);

}  // namespace oomplan::estimator
