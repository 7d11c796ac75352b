// dynamic.yaml: which models Unsloth quantizes by layers of its choice.
#pragma once

#include <string_view>

namespace oomplan::ingestion::unsloth {

/// Whether from_pretrained of that hub id, in any case, takes such a checkpoint where it loads in 4 bits.
bool is_quantized_by_choice(std::string_view id);

}  // namespace oomplan::ingestion::unsloth
