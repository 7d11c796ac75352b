// What derive.cpp takes of the other files of the dialect.
#pragma once

#include <span>

#include "../../optimizers.hpp"
#include "../../rows.hpp"
#include "../../saying.hpp"

namespace oomplan::ingestion::axolotl {

// What is said of Axolotl's keys beside keys.yaml.

std::span<const Feature> features();

// Optimizers that Axolotl makes itself, whatever the Trainer knows (axolotl 0.18.0: core/builders/base.py).

inline constexpr OptimizerName muon{"muon", "axolotl_muon"};

// How Axolotl's keys say what derive.cpp makes of more than one.

std::span<const Saying> sayings();

}  // namespace oomplan::ingestion::axolotl
