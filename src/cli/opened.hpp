// What a command reads as bytes: a file by its path, or standard input for "-".
#pragma once

#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/read/log_text.hpp"

namespace oomplan::cli {

/// Of "-", what was given in the place of standard input where something was. Errors: those of LogText::open().
Result<LogText> open_text(const std::string& path, LogText::Part part = LogText::Part::all);

/// The same of plain files only; of others the errors are those of EventList::open().
Result<LogText> open_plain(const std::string& path);

/// As messages name it.
std::string shown_path(const std::string& path);

}  // namespace oomplan::cli
