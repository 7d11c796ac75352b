// Numbers of files that write their lowest byte first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace oomplan::read {

/// The number in up to eight bytes.
inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) out = out << 8U | static_cast<unsigned char>(bytes[i]);
  return out;
}

}  // namespace oomplan::read
