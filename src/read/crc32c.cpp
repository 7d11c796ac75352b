#include "crc32c.hpp"

#include <array>

namespace oomplan::read {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78U;  // with its bits turned round

constexpr std::array<std::uint32_t, 256> table = [] {
  std::array<std::uint32_t, 256> out{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1U) != 0 ? sum >> 1U ^ polynomial : sum >> 1U;
    out[byte] = sum;
  }
  return out;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t sum = 0xFFFFFFFFU;
  for (const char byte : bytes) sum = table[(sum ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ sum >> 8U;
  return ~sum;
}

}  // namespace oomplan::read
