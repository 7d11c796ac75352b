// Answers where no command runs to its end: a command line that makes no sense, a bug of ours.
#pragma once

#include <span>
#include <string>

#include "oomplan/arguments/arguments.hpp"
#include "outcome.hpp"

namespace oomplan::cli {

/// Says what is wrong, with the nearest option or command where a word looks misspelt; as JSON where --json was among
/// `words`.
Outcome misused(const ParsedArguments& arguments, std::span<char* const> words);

/// Where the system gives no more.
Outcome out_of_memory(std::span<char* const> words);

/// After an exception that nobody caught.
Outcome crashed(const std::string& what, std::span<char* const> words);

}  // namespace oomplan::cli
