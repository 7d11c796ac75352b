#include "utf16.hpp"

namespace oomplan::read {
namespace {

void put_code(unsigned code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int trail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const unsigned lead = trail == 1 ? 0xC0 : trail == 2 ? 0xE0 : 0xF0;
  out += static_cast<char>(lead | (code >> (6 * trail)));
  for (int i = trail - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
}

}  // namespace

void Utf16::put(unsigned unit, std::string& out) {
  const bool low = unit >= 0xDC00 && unit < 0xE000;
  if (high_ != 0 && low) {
    put_code(0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00), out);
    high_ = 0;
    return;
  }
  if (high_ != 0) put_code(0xFFFD, out);
  high_ = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
  if (high_ == 0) put_code(low ? 0xFFFD : unit, out);
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
