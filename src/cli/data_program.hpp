// The commands that another program answers, which lies beside this one: oomplan-data.
#pragma once

#include <string>

#include "command.hpp"

namespace oomplan::cli {

/// Where oomplan-data is, or would be: beside what `word`, the command line's first, names as what started it, or
/// beside this program.
std::string data_program(const std::string& word);

/// A subcommand of this name, whose words are all handed on. Error: cli/no-data-program.
Command handed_on(const ArgumentParser& program, const std::string& name, const std::string& description);

}  // namespace oomplan::cli
