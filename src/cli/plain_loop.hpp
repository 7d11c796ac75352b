// A model in place of a config: trained by a plain loop of PyTorch's.
#pragma once

#include <string>

#include "recipe.hpp"

namespace oomplan::cli {

/// In the plain form, which says how ranks share matrices and layers too: all weights in bf16, or LoRA where `recipe`
/// asks for it. Errors: those of find_model; cli/usage for QLoRA.
Result<ReadConfig> plain_loop(const std::string& name, const RecipeAsked& recipe, const Catalog& catalog);

}  // namespace oomplan::cli
