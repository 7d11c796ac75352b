// The files of models/stacks that the build put into the program.
#pragma once

#include <span>
#include <string_view>

namespace oomplan::stacks {

struct EmbeddedFile {
  std::string_view path;  ///< Its name ("trl-1.16.yaml").
  std::string_view text;
};

/// All of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace oomplan::stacks
