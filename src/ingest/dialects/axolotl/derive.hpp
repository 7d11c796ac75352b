// What derive.cpp takes of the other files of the dialect.
#pragma once

#include <span>
#include <string_view>

#include "../../optimizers.hpp"
#include "../../rows.hpp"
#include "../../saying.hpp"

namespace oomplan::ingestion::axolotl {

// What is said of Axolotl's keys beside keys.yaml.

std::span<const Feature> features();

// Of overrides_of_model_config, which the loader sets in the config that it has read (axolotl 0.18.0: loaders/utils.py,
// load_model_config).

/// Rotary settings and limits of positions change no tensor's size.
bool is_idle_override(const Entry& entry);
/// A scalar that leaves the checkpoint's weights as large as they are: no other width, no other vocabulary.
bool is_played_override(const Entry& entry);

// Plugins that are played, by their names below `integrations`.

inline constexpr std::string_view integrations = "axolotl.integrations.";
inline constexpr std::string_view cut_plugin_name = "cut_cross_entropy.CutCrossEntropyPlugin";
inline constexpr std::string_view liger_plugin_name = "liger.LigerPlugin";
inline constexpr std::string_view kernels_plugin_name = "kernels.KernelsPlugin";

/// integrations/base.py: load_plugin looks for a module of this name, then for one below `integrations`.
inline bool is_plugin(std::string_view text, std::string_view name) {
  return text == name || (text.starts_with(integrations) && text.substr(integrations.size()) == name);
}

// Optimizers that Axolotl makes itself, whatever the Trainer knows (axolotl 0.18.0: core/builders/base.py).

inline constexpr OptimizerName muon{"muon", "axolotl_muon"};

// How Axolotl's keys say what derive.cpp makes of more than one.

std::span<const Saying> sayings();

}  // namespace oomplan::ingestion::axolotl
