// What a command line says of the trainer that it starts.
#pragma once

#include <string>
#include <vector>

namespace oomplan::cli {

/// Whose trainer a command starts, and the words that say so.
struct Launched {
  std::string trainer{};  ///< Of trainer_names; "" where the command does not say.
  std::string words{};    ///< "trl dpo".
  /// What the script alone says of its run, as --set takes it ("plan.head=question_answering").
  std::vector<std::string> facts{};
};

/// `trl dpo …`, `python -m trl.scripts.dpo …`, and the scripts of TRL's and transformers' examples by their names.
Launched launched_by(const std::vector<std::string>& command);

}  // namespace oomplan::cli
