// Checkpoints in 4 bits of which Unsloth chose the layers to quantize.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace oomplan::ingestion::unsloth {

/// Whether Unsloth loads such a checkpoint for the model of this name: the bytes of its files, 0 where they are not
/// known. None where it quantizes all layers but the head.
std::optional<std::int64_t> chosen_checkpoint(std::string_view id);

}  // namespace oomplan::ingestion::unsloth
