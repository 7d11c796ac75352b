// Unsloth's attention and MLP in place of a model's own (unsloth/models/llama.py, mistral.py, qwen3.py;
// unsloth/utils/attention_dispatch.py).
#pragma once

#include <memory>

#include "play.hpp"

namespace oomplan::estimator {

/// Of the op rotary_attention.
std::unique_ptr<Module> make_unsloth_attention(const Attributes& attributes, Builder& builder);
/// Of the op gated_mlp.
std::unique_ptr<Module> make_unsloth_mlp(const Attributes& attributes, Builder& builder);

}  // namespace oomplan::estimator
