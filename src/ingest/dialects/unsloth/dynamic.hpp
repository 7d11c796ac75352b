// Checkpoints in 4 bits of which Unsloth chose the layers to quantize.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion::unsloth {

/// Whether Unsloth loads such a checkpoint for the model of this name: the bytes of its files, 0 where they are not
/// known. None where it quantizes all layers but the head.
std::optional<std::int64_t> chosen_checkpoint(std::string_view id);

/// Whether Unsloth's loader takes another checkpoint in place of the one of this name, for its size.
bool is_taken_back(std::string_view given);

/// Where the name is of such a checkpoint, or Unsloth's loader takes one for it, its bytes; where these are not known,
/// all layers are left in 16 bits, by an origin that says that nobody knows which are.
void choose_layers(const std::string& given, QuantizationFacts& quantization);

}  // namespace oomplan::ingestion::unsloth
