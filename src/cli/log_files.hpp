// Which files of a directory may be logs or memory snapshots.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::cli {

/// Appends `path`, or where it is a directory the files in it and below, by name: none that code, documents, weights,
/// data or a tracker's own files are. Problems are told where there is none (read/no-match), and where there are more
/// than 4096 (diagnose/left-out).
void add_log_files(const std::string& path, std::vector<std::string>& out, Diagnostics& problems);

}  // namespace oomplan::cli
