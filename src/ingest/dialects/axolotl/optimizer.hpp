// Optimizers that Axolotl makes itself, whatever the Trainer knows (axolotl 0.18.0: core/builders/base.py).
#pragma once

#include "../../optimizers.hpp"

namespace oomplan::ingestion::axolotl {

inline constexpr OptimizerName muon{"muon", "axolotl_muon"};

}  // namespace oomplan::ingestion::axolotl
