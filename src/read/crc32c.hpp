// The checksum of Castagnoli's polynomial, as TFRecord has it.
#pragma once

#include <cstdint>
#include <string_view>

namespace oomplan::read {

/// CRC-32C of the bytes (RFC 3720, B.4).
std::uint32_t crc32c(std::string_view bytes);

}  // namespace oomplan::read
