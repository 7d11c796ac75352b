// Writing a patched config in place of the old one.
#pragma once

#include <optional>
#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::cli {

/// Puts `text` (without a byte order mark, as Document::text) in the place of `document`'s file, or of the one that a
/// symbolic link leads to, as replace_file() does; the old text stays as a backup, whose path is returned. Error:
/// cli/not-applied, and then nothing is changed: standard input, a file that may not be written, or one that is no
/// longer as it was read.
Result<std::string> apply(const Document& document, const std::string& text);

}  // namespace oomplan::cli
