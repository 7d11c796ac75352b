// Answers to command lines that ask for help or make no sense.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "outcome.hpp"

namespace oomplan::cli {

Outcome help_or_version(const CLI::App& program, const CLI::Success& wanted);

/// Says what is wrong, with the nearest option or command where a word looks misspelt; as JSON where --json was among
/// `words`.
Outcome misused(const CLI::App& program, const CLI::ParseError& error, std::span<char* const> words);

}  // namespace oomplan::cli
