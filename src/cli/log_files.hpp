// Which files of a directory may be logs or memory snapshots.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/read/log_text.hpp"

namespace oomplan::cli {

struct LogFile {
  std::string path{};
  LogText::Part part = LogText::Part::all;
};

/// Appends `path`, or where it is a directory the files in it and below, by name: none that code, documents, weights
/// or data are. Trackers' own files (W&B's beside its output.log, TensorBoard's events) come first, since they tell of
/// the whole run, and only what they alone know of it is asked for. Problems are told where there is none
/// (read/no-match), and where there are more than 4096 (diagnose/left-out).
void add_log_files(const std::string& path, std::vector<LogFile>& out, Diagnostics& problems);

}  // namespace oomplan::cli
