// What is said of Hugging Face's keys beside keys.yaml.
#pragma once

#include <span>
#include <string_view>

#include "../../arguments.hpp"

namespace oomplan::ingestion::hf {

/// The feature that a key of another trainer of TRL asks for.
inline constexpr std::string_view other_training = "preference, RL or distillation training";

std::span<const Feature> features();

}  // namespace oomplan::ingestion::hf
