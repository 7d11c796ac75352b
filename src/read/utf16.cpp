#include "utf16.hpp"

#include "oomplan/core/code_point.hpp"

namespace oomplan::read {

void Utf16::put(unsigned unit, std::string& out) {
  if (const auto joined = joined_surrogates(high_, unit)) {
    append_utf8(*joined, out);
    high_ = 0;
    return;
  }
  if (high_ != 0) append_utf8(high_, out);
  high_ = is_high_surrogate(unit) ? unit : 0;
  if (high_ == 0) append_utf8(unit, out);
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
