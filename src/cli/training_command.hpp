// A command that starts a training run, in place of its config.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {

/// What it says of the run.
struct TrainingCommand {
  std::string config{};                  ///< The file that the program reads; "" where `text` is in its place.
  std::string text{};                    ///< The script's arguments as YAML, by their own keys.
  std::string name{};                    ///< Of the text: "trl sft".
  std::string dialect{};                 ///< Whose keys the text has.
  std::vector<std::string> overrides{};  ///< "key=value": arguments beside the file, and what the script alone says.
  std::vector<std::string> launch{};     ///< Files that the launcher reads.
  std::string launcher{};                ///< As LauncherWords::config.
  std::string trainer{};                 ///< As Launched has it, with the words that say so.
  std::string trainer_said{};
  NamedWorld world{};  ///< How many processes the launcher starts; 0 where it does not say.
};

/// Of `accelerate launch`, `torchrun`, `deepspeed` or `python` with a script or module whose arguments are
/// transformers' (HfArgumentParser) or name a file of theirs; of `trl`, `axolotl train`, `llamafactory-cli train` and
/// `tune run`. `words` has no shell in it: what a quote or a variable stood for is in its place. Error, cli/usage: a
/// program whose arguments are not read, an option of a launcher that may change what a rank holds (its file can say
/// it), and what has no value.
Result<TrainingCommand> read_training_command(const std::vector<std::string>& words);

}  // namespace oomplan::cli
