// What --dialect takes.
#pragma once

#include <string>

namespace oomplan::cli {

/// "hf or oomplan; else recognised from the content".
std::string dialect_help();

}  // namespace oomplan::cli
