// Any bytes as TensorBoard's event file, as they are and as one record with right checksums: lines come, in bounded
// size, and how they are asked for does not matter.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "crc32c.hpp"
#include "read_all.hpp"
#include "require.hpp"
#include "tensorboard_log.hpp"

namespace {

using namespace oomplan;

std::string text_of(std::string_view bytes, std::size_t piece) {
  return read_all(*read::lines_of_tensorboard(read::bytes_of(bytes), ""), piece);
}

std::string number(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8U * i & 0xFFU);
  return out;
}

std::string sum_of(std::string_view bytes) {
  const std::uint32_t sum = read::crc32c(bytes);
  return number((sum >> 15U | sum << 17U) + 0xA282EAD8U, 4);
}

std::string framed(std::string_view record) {
  const std::string length = number(record.size(), 8);
  return length + sum_of(length) + std::string(record) + sum_of(record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string record = framed(bytes);
  for (const std::string_view file : {bytes, std::string_view(record)}) {
    const std::string text = text_of(file, 4096);
    require(text.size() <= 8 * file.size() + 128, "a line for a record at the most");
    require(text == text_of(file, 7), "pieces do not matter");
  }
  return 0;
}
