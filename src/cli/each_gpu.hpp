// One answer for each card that --gpu names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oomplan/arguments/arguments.hpp"
#include "oomplan/core/result.hpp"
#include "outcome.hpp"

namespace oomplan::cli {

/// --gpu, of a command that answers for one card after the other.
void add_gpus_option(const ArgumentParser& app, std::vector<std::string>& gpus);

/// Errors, cli/usage: an option that has the answer for one card is given beside several. `given` says which are.
Diagnostics check_alone(const std::vector<std::string>& gpus,
                        const std::vector<std::pair<std::string_view, bool>>& given);

/// The answers below one another, and the exit code of the one that is worst (does not fit, then cannot be decided).
/// What is wrong with the config or the command line is told once.
Outcome answer_each(const std::vector<std::string>& gpus, const std::function<Outcome(const std::string&)>& answer);

}  // namespace oomplan::cli
