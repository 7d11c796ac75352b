// Data files that the build puts into the program (cmake/embed.cmake). Each folder of them has a function
// `embedded_files()` in a namespace of its own, which the one file that reads them declares.
// They are sorted by path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace oomplan {

struct EmbeddedFile {
  std::string_view path;          ///< Below its folder, with '/': "presets/gpt2.yaml" of models/.
  std::string_view text;          ///< Of what is read by lines or shown as it is; of other YAML empty.
  std::string_view packed;        ///< What that YAML says (oomplan/read/packed.hpp); else empty.
  std::uint64_t fingerprint = 0;  ///< FNV-1a of the file: it tells builds apart, and guards nothing.
};

/// A hub id that a preset lists (src/catalog/preset_file.hpp). They are sorted by id.
struct EmbeddedId {
  std::string_view id;  ///< In lower case.
  std::string_view path;
};

/// The one of this path, or null.
inline const EmbeddedFile* find_embedded(std::span<const EmbeddedFile> files, std::string_view path) {
  const auto found = std::ranges::lower_bound(files, path, {}, &EmbeddedFile::path);
  return found != files.end() && found->path == path ? &*found : nullptr;
}

}  // namespace oomplan
