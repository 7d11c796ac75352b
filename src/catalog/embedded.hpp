// The files of models/ that the build put into the program.
#pragma once

#include <span>
#include <string_view>

namespace oomplan::catalog {

struct EmbeddedFile {
  std::string_view path;  ///< Below models/, with '/' ("presets/gpt2.yaml").
  std::string_view text;
};

/// All of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace oomplan::catalog
