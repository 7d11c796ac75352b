#include "canonical.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace oomplan::measure {
void put_unsigned(ByteBuffer& out, std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return put_integer(out, static_cast<std::int64_t>(value));
  }
  out.put_raw('u', value);
}

void put_number(ByteBuffer& out, double value) {
  constexpr double two63 = 9223372036854775808.0;
  const bool whole = std::floor(value) == value;
  if (whole && value >= -two63 && value < two63) return put_integer(out, static_cast<std::int64_t>(value));
  if (whole && value >= two63 && value < 2 * two63) return put_unsigned(out, static_cast<std::uint64_t>(value));
  out.put_raw('x', std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}

void put_decimal(ByteBuffer& out, std::string_view text) {
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos) {
    while (text.ends_with('0')) text.remove_suffix(1);
    if (text.ends_with('.')) text.remove_suffix(1);
  }
  const auto whole = [&](auto& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  if (std::int64_t value = 0; whole(value)) return put_integer(out, value);
  if (std::uint64_t value = 0; whole(value)) return put_unsigned(out, value);
  put_sized(out, 'd', text);
}

void put_time(ByteBuffer& out, char kind, std::int64_t seconds, std::int32_t nanoseconds) {
  out.put_raw(kind, seconds);
  out.put({reinterpret_cast<const char*>(&nanoseconds), sizeof nanoseconds});
}

}  // namespace oomplan::measure
