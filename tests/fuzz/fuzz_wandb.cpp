// Any bytes as W&B's file of a run, as they are and as one record with a right checksum: the text comes, in bounded
// size, and how it is asked for does not matter.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "read_all.hpp"
#include "require.hpp"
#include "wandb_log.hpp"

namespace {

using namespace oomplan;

std::string text_of(std::string_view bytes, std::size_t piece) {
  return read_all(*read::console_of_wandb(read::bytes_of(bytes), ""), piece);
}

std::string framed(std::string_view record) {
  constexpr std::size_t most = 32768 - 14;
  const std::string chunk = '\1' + std::string(record.substr(0, most));
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
  std::string out(":W&B\xE1\xBE\0", 7);
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(sum >> shift & 0xFFU);
  out += static_cast<char>((chunk.size() - 1) & 0xFFU);
  out += static_cast<char>((chunk.size() - 1) >> 8U);
  return out + chunk;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string record = framed(bytes);
  for (const std::string_view file : {bytes, std::string_view(record)}) {
    const std::string text = text_of(file, 4096);
    require(text.size() <= 32 * file.size() + 64, "no more than is in it");
    require(text == text_of(file, 7), "pieces do not matter");
  }
  return 0;
}
