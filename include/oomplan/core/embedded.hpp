// Data files that the build puts into the program (cmake/embed.cmake). Each folder of them has a function
// `embedded_files()` in a namespace of its own, which the one file that reads them declares;
// they are sorted by path.
#pragma once

#include <span>
#include <string_view>

namespace oomplan {

struct EmbeddedFile {
  std::string_view path;  ///< Below its folder, with '/': "presets/gpt2.yaml" of models/.
  std::string_view text;
  std::string_view packed;  ///< Of YAML, what it says (oomplan/read/packed.hpp); else empty.
};

}  // namespace oomplan
