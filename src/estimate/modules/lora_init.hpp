// What peft's initialisations of LoRA that decompose a layer's weight have on the device meanwhile (peft 0.21.2:
// tuners/lora/layer.py, LoraLayer.pissa_init and olora_init). As if
// the model were on the GPU by then; without what cuSOLVER takes for itself.
#pragma once

#include <cstdint>

#include "play.hpp"

namespace oomplan::estimator {

/// Of a layer's weight of so many inputs and outputs.
void play_lora_init(Builder& builder, std::int64_t in, std::int64_t out);

}  // namespace oomplan::estimator
