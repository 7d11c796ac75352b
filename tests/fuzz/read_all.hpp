// All that a source in memory gives, asked for in pieces of `piece` bytes.
#pragma once

#include <cstddef>
#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/read/byte_source.hpp"
#include "require.hpp"

inline std::string read_all(oomplan::read::ByteSource& source, std::size_t piece) {
  std::string out;
  std::string room(piece, '\0');
  while (true) {
    const oomplan::Result<std::size_t> got = source.read(room.data(), room.size());
    require(static_cast<bool>(got), "memory is always read");
    if (*got == 0) return out;
    out.append(room, 0, *got);
  }
}
