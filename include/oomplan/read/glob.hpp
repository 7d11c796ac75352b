// Paths by pattern.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan {

/// Whether `text` holds one of * ? [.
bool is_glob(std::string_view text);

/// Whether the pattern means the path, folder by folder: * and ? stand for what is not '/', [a-z] and [!a-z] for one
/// byte, and a folder ** for any number of folders. Both are compared as if "./" and "//" were not in them. Takes time
/// in proportion to the product of their lengths at the most.
bool glob_matches(std::string_view pattern, std::string_view path);

/// Whether each '[' of the pattern has its ']' in the same folder's name. One that has none stands for itself.
bool brackets_close(std::string_view pattern);

/// Whether one of the patterns means the file, however it is written: a pattern that begins with '/' is of its whole
/// path, another of the path from the working directory.
bool globs_mean(const std::vector<std::string>& patterns, const std::string& path);

/// The path from the working directory, without the detours that it is written with; outside of it with "..".
std::string path_from_here(const std::string& path);

struct GlobOptions {
  bool folders = false;                   ///< Folders too, but not those that ** stands for.
  bool links = false;                     ///< ** follows symbolic links, into each folder once however many lead to it.
  std::int64_t most_looked_at = 100'000;  ///< Folders and files.
  std::int64_t most_bytes = 64LL << 20;   ///< Of the paths found, with what each takes in memory.
};

/// The files that a pattern means, sorted; all that is no folder, so that a link that leads nowhere is not passed over.
/// A folder or file whose name begins with '.' has to be named with its dot. Errors: read/no-match (none),
/// read/too-large (more than the options allow), read/unreadable.
Result<std::vector<std::string>> expand_glob(const std::string& pattern, const GlobOptions& options = {});

}  // namespace oomplan
