// The options --config, --gpu … of the commands that diagnose, and what they come to.
#pragma once

#include "answer.hpp"
#include "oomplan/arguments/arguments.hpp"
#include "oomplan/diagnose/diagnose.hpp"

namespace oomplan::cli {

void add_prediction_options(const ArgumentParser& app, Question& question);

/// What the config says of the run, read once.
struct Expected {
  Question question{};
  Findings findings{};
  std::optional<Document> document{};
  Diagnostics problems{};  ///< A GPU that nobody knows: the run is then expected without one.
};

/// Where no config is named, nothing is.
Expected expected(const Question& question);

/// Holds the diagnosis against what was expected, if anything was, and puts the fixes that it takes first. What speaks
/// against the config goes to `problems`; the diagnosis stands all the same.
void add_join(Diagnosis& diagnosis, const Expected& expected, Diagnostics& problems);

/// Where the GPU ran full, the config was estimated on a GPU, and nothing in the log speaks against it: the cheapest
/// fixes that make it fit go to the head of what to do, each with what the run needs after it.
void add_fixes(Diagnosis& diagnosis, const Question& question, const Findings& findings, const Document& document);

}  // namespace oomplan::cli
