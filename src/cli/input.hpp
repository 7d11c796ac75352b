// The config as the command line names it.
#pragma once

#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {

/// The file at `path`, or standard input for "-", within the same budget.
Result<Document> read_config(const std::string& path);

}  // namespace oomplan::cli
