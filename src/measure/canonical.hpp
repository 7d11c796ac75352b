// The canonical form of a row: bytes that are equal exactly where two rows are, whatever format they came in.
//
//   null    n                              in a list; a field of an object that is null is left out
//   boolean t  f
//   number  i + 8 bytes                    a whole number that int64 holds, also of a float (1.0 is 1)
//           u + 8 bytes                    one that only uint64 holds
//           x + 8 bytes                    any other float, widened to double; all NaN are one
//           d + text                       a decimal that is not whole, without zeros at its end
//   text    s + length + bytes             strings, and bytes of any kind
//   time    T D C + 8 bytes + 4 bytes      seconds and nanoseconds: since 1970, of a duration, of a day
//   list    [ elements ]
//   object  { k + length + name, value … } sorted by name; of two fields of one name the last
//
// Numbers are little-endian; a length is a base-128 varint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "byte_buffer.hpp"

namespace oomplan::measure {

/// `tag`, the length and the bytes.
inline void put_sized(ByteBuffer& out, char tag, std::string_view value) {
  out.put(tag);
  std::size_t length = value.size();
  for (; length >= 0x80; length >>= 7) out.put(static_cast<char>(length | 0x80));
  out.put(static_cast<char>(length));
  out.put(value);
}

inline void put_null(ByteBuffer& out) { out.put('n'); }
inline void put_boolean(ByteBuffer& out, bool value) { out.put(value ? 't' : 'f'); }
inline void put_integer(ByteBuffer& out, std::int64_t value) { out.put_raw('i', value); }
void put_unsigned(ByteBuffer& out, std::uint64_t value);
void put_number(ByteBuffer& out, double value);
/// `text` as digits, with or without sign and point.
void put_decimal(ByteBuffer& out, std::string_view text);
inline void put_text(ByteBuffer& out, std::string_view value) { put_sized(out, 's', value); }
/// `kind` is T, D or C; `nanoseconds` are within a second and count forwards.
void put_time(ByteBuffer& out, char kind, std::int64_t seconds, std::int32_t nanoseconds);
inline void begin_list(ByteBuffer& out) { out.put('['); }
inline void end_list(ByteBuffer& out) { out.put(']'); }
inline void begin_object(ByteBuffer& out) { out.put('{'); }
inline void put_name(ByteBuffer& out, std::string_view name) { put_sized(out, 'k', name); }
/// A name as put_name() puts it.
inline ByteBuffer named(std::string_view name) {
  ByteBuffer out;
  put_name(out, name);
  return out;
}
inline void end_object(ByteBuffer& out) { out.put('}'); }

/// The same value as JSON; times are text as ISO 8601 has them. Nothing where text is not UTF-8.
std::optional<std::string> canonical_as_json(std::string_view canonical);

}  // namespace oomplan::measure
