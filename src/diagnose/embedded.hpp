// The files of rules/ that the build put into the program.
#pragma once

#include <span>
#include <string_view>

namespace oomplan::diagnose {

struct EmbeddedFile {
  std::string_view path;  ///< Below rules/, with '/' ("messages/pytorch.yaml").
  std::string_view text;
};

/// All of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace oomplan::diagnose
