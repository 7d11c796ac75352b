#include "utf16.hpp"

#include "code_point.hpp"

namespace oomplan::read {

void Utf16::put(unsigned unit, std::string& out) {
  const bool low = unit >= 0xDC00 && unit < 0xE000;
  if (high_ != 0 && low) {
    append_utf8(0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00), out);
    high_ = 0;
    return;
  }
  if (high_ != 0) append_utf8(0xFFFD, out);
  high_ = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
  if (high_ == 0) append_utf8(low ? 0xFFFD : unit, out);
}

std::string Utf16::to_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    half_ += c;
    if (half_.size() < 2) continue;
    const auto first = static_cast<unsigned char>(half_[0]);
    const auto second = static_cast<unsigned char>(half_[1]);
    half_.clear();
    put(big_endian_ ? first * 256U + second : second * 256U + first, out);
  }
  return out;
}

}  // namespace oomplan::read
