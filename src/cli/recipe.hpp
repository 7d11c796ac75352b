// A model in place of a config: trained by TRL's sft script, with its own defaults; by transformers' Trainer where it
// predicts no next token.
#pragma once

#include <string>
#include <string_view>

#include "answer.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {

inline constexpr const char* config_help =
    "The training config, YAML or JSON (- reads standard input); or a model, by hub id or folder";

/// --method, --batch, --length
void add_recipe_options(const ArgumentParser& app, RecipeAsked& recipe);

struct ReadConfig {
  Document document{};
  std::string recipe{};  ///< The command that stands for a model; "" where the config is a file.
};

/// What asks for a recipe beside what is no model.
Diagnostic no_recipe();

/// Whether a config is named, and no model.
bool names_file(const std::string& config);

/// A file of that name wins over a model. Errors: those of read_config and find_model; cli/usage where a file is named
/// and `recipe` asks for something.
Result<ReadConfig> config_or_recipe(const std::string& config, const RecipeAsked& recipe, const Catalog& catalog);

}  // namespace oomplan::cli
