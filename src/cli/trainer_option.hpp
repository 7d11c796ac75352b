// The options --trainer and --launch, and what a command line says of the trainer that it starts.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace oomplan::cli {

CLI::Option* add_trainer_option(CLI::App& app, std::string& trainer);

/// --launch, which may be given several times.
CLI::Option* add_launch_option(CLI::App& app, std::vector<std::string>& files);

/// Whose trainer a command starts, and the words that say so.
struct Launched {
  std::string trainer{};  ///< Of trainer_names; "" where the command does not say.
  std::string words{};    ///< "trl dpo".
};

/// `trl dpo …`, `python -m trl.scripts.dpo …`, and the scripts of TRL's and transformers' examples by their names.
Launched launched_by(const std::vector<std::string>& command);

}  // namespace oomplan::cli
