// What packed files this build reads.
#pragma once

#include <span>
#include <string_view>

namespace oomplan {

struct Unpacker {
  std::string_view name{};  ///< "gzip", "zstd", "bzip2", "xz"
  bool built_in = false;    ///< Else a file packed so is refused with read/no-library.
};

std::span<const Unpacker> unpackers();

}  // namespace oomplan
