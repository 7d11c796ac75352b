// The options --config, --gpu … of the commands that diagnose, and what they come to.
#pragma once

#include <CLI/CLI.hpp>

#include "answer.hpp"
#include "oomplan/diagnose.hpp"

namespace oomplan::cli {

void add_prediction_options(CLI::App& app, Question& question);

/// Holds the diagnosis against the config, where one is named, and puts the fixes that it takes first. What speaks
/// against the config goes to `problems`; the diagnosis stands all the same.
void add_join(Diagnosis& diagnosis, const Question& question, Diagnostics& problems);

}  // namespace oomplan::cli
