// The commands that another program answers, which lies beside this one: oomplan-data.
#pragma once

#include <string>

#include "command.hpp"

namespace oomplan::cli {

/// Where oomplan-data would be.
std::string data_program();

/// A subcommand of this name, whose words are all handed on. Error: cli/no-data-program.
Command handed_on(const ArgumentParser& program, const std::string& name, const std::string& description);

}  // namespace oomplan::cli
