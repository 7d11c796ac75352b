// A question about the run that a command starts.
#pragma once

#include <string>
#include <vector>

#include "answer.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan::cli {

/// The question of a run that `command` starts (training_command.hpp). What options say goes over what the command
/// says. Errors: cli/usage, for what cannot be read of it, another number of GPUs, and --method and the like, which are
/// of a model; read/missing.
Result<Question> question_of(Question question, const std::vector<std::string>& command);

}  // namespace oomplan::cli
