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

namespace oomplan::measure {

void put_null(std::string& out);
void put_boolean(std::string& out, bool value);
void put_integer(std::string& out, std::int64_t value);
void put_unsigned(std::string& out, std::uint64_t value);
void put_number(std::string& out, double value);
/// `text` as digits, with or without sign and point.
void put_decimal(std::string& out, std::string_view text);
void put_text(std::string& out, std::string_view value);
/// `kind` is T, D or C; `nanoseconds` are within a second and count forwards.
void put_time(std::string& out, char kind, std::int64_t seconds, std::int32_t nanoseconds);
void begin_list(std::string& out);
void end_list(std::string& out);
void begin_object(std::string& out);
void put_name(std::string& out, std::string_view name);
void end_object(std::string& out);

/// The same value as JSON; times are text as ISO 8601 has them. Nothing where text is not UTF-8.
std::optional<std::string> canonical_as_json(std::string_view canonical);

}  // namespace oomplan::measure
