// Reports written to files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outcome.hpp"

namespace oomplan::cli {

/// Whether two paths, there or not, lead to one file.
bool same_place(const std::string& one, const std::string& other);

/// Puts `text` in the place of `path`, through a temporary file beside it and a rename: a reader sees the old file or
/// the whole new one. Never one of `inputs`, nor what is no regular file. Error: cli/not-written.
Diagnostics write_report(const std::string& path, std::string_view text, const std::vector<std::string>& inputs);

/// The same beside an answer: where it cannot be written, the outcome says so, and its exit code. Nothing
/// is written where the command line was wrong.
void add_report(Outcome& outcome, const std::string& path, std::string_view text,
                const std::vector<std::string>& inputs);

}  // namespace oomplan::cli
