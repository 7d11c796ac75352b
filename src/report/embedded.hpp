// The files of src/report/html/ that the build put into the program: the style and the script of every page.
#pragma once

#include <span>
#include <string_view>

namespace oomplan::report {

struct EmbeddedFile {
  std::string_view path;  ///< "page.js".
  std::string_view text;
};

/// All of them, sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace oomplan::report
