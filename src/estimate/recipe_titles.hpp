// What messages call a recipe.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "oomplan/plan/choices.hpp"

namespace oomplan::estimator {

inline constexpr std::array<std::string_view, recipe_names.size()> recipe_titles{"language modelling",
                                                                                 "DPO",
                                                                                 "ORPO or CPO",
                                                                                 "reward modelling",
                                                                                 "KTO",
                                                                                 "GRPO",
                                                                                 "a preference loss of LLaMA-Factory's",
                                                                                 "LLaMA-Factory's KTO",
                                                                                 "GKD",
                                                                                 "LLaMA-Factory's reward modelling",
                                                                                 "torchtune's DPO",
                                                                                 "training of sentence embeddings"};

/// As it stands in a sentence: "GRPO".
inline std::string title_of(RecipeKind kind) { return std::string(recipe_titles[static_cast<std::size_t>(kind)]); }

}  // namespace oomplan::estimator
