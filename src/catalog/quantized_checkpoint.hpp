// What a config.json says of weights that bitsandbytes quantized before they were saved.
#pragma once

#include <optional>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

/// Of a `quantization_config` whose quant_method is bitsandbytes; nothing where it has a value that is not played.
/// Without any other key nobody saw it. For a key that is left out it has the default of BitsAndBytesConfig
/// (transformers/utils/quantization_config.py).
std::optional<QuantizedCheckpoint> by_bitsandbytes(const Node& quantization_config);

}  // namespace oomplan::catalog
