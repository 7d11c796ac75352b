#include "canonical.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace oomplan::measure {
namespace {

template <class T>
void put_raw(std::string& out, char tag, T value) {
  char bytes[1 + sizeof value];
  bytes[0] = tag;
  std::memcpy(bytes + 1, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

void put_sized(std::string& out, char tag, std::string_view value) {
  out += tag;
  std::size_t length = value.size();
  for (; length >= 0x80; length >>= 7) out += static_cast<char>(length | 0x80);
  out += static_cast<char>(length);
  out += value;
}

}  // namespace

void put_null(std::string& out) { out += 'n'; }
void put_boolean(std::string& out, bool value) { out += value ? 't' : 'f'; }
void put_integer(std::string& out, std::int64_t value) { put_raw(out, 'i', value); }

void put_unsigned(std::string& out, std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return put_integer(out, static_cast<std::int64_t>(value));
  }
  put_raw(out, 'u', value);
}

void put_number(std::string& out, double value) {
  constexpr double two63 = 9223372036854775808.0;
  const bool whole = std::floor(value) == value;
  if (whole && value >= -two63 && value < two63) return put_integer(out, static_cast<std::int64_t>(value));
  if (whole && value >= two63 && value < 2 * two63) return put_unsigned(out, static_cast<std::uint64_t>(value));
  put_raw(out, 'x', std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}

void put_decimal(std::string& out, std::string_view text) {
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos) {
    while (text.ends_with('0')) text.remove_suffix(1);
    if (text.ends_with('.')) text.remove_suffix(1);
  }
  if (text.find('.') == std::string_view::npos && text.size() <= 18) {
    return put_integer(out, std::strtoll(std::string(text).c_str(), nullptr, 10));
  }
  put_sized(out, 'd', text);
}

void put_text(std::string& out, std::string_view value) { put_sized(out, 's', value); }

void put_time(std::string& out, char kind, std::int64_t seconds, std::int32_t nanoseconds) {
  put_raw(out, kind, seconds);
  out.append(reinterpret_cast<const char*>(&nanoseconds), sizeof nanoseconds);
}

void begin_list(std::string& out) { out += '['; }
void end_list(std::string& out) { out += ']'; }
void begin_object(std::string& out) { out += '{'; }
void put_name(std::string& out, std::string_view name) { put_sized(out, 'k', name); }
void end_object(std::string& out) { out += '}'; }

}  // namespace oomplan::measure
