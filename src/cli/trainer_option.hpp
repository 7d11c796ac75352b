// The options --trainer and --launch, and what a command line says of the trainer that it starts.
#pragma once

#include <string>
#include <vector>

#include "oomplan/arguments/arguments.hpp"

namespace oomplan::cli {

Option add_trainer_option(const ArgumentParser& app, std::string& trainer);

/// --launch, which may be given several times.
Option add_launch_option(const ArgumentParser& app, std::vector<std::string>& files);

/// Whose trainer a command starts, and the words that say so.
struct Launched {
  std::string trainer{};  ///< Of trainer_names; "" where the command does not say.
  std::string words{};    ///< "trl dpo".
};

/// `trl dpo …`, `python -m trl.scripts.dpo …`, and the scripts of TRL's and transformers' examples by their names.
Launched launched_by(const std::vector<std::string>& command);

}  // namespace oomplan::cli
