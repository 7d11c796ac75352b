// Files as a git revision has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::cli {

/// What `git ARGUMENTS` prints, run without a shell, with `input`, which is short enough for a pipe to hold, before it;
/// at most `most` bytes. Errors: cli/no-baseline, where git is not there, ends with anything but 0, or prints more.
Result<std::string> git(const std::vector<std::string>& arguments, std::size_t most, std::string_view input = {});

}  // namespace oomplan::cli
