// The files of rules/ladder/ that the build put into the program.
#pragma once

#include <span>
#include <string_view>

namespace oomplan::advise {

struct EmbeddedFile {
  std::string_view path;  ///< Its name ("micro-batch.yaml").
  std::string_view text;
};

/// All of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace oomplan::advise
