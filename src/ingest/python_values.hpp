// Values as the frameworks take them from a loaded document: pydantic turns some into others, argparse parses texts,
// and what stands in a mapping of arguments goes on as it is.
#pragma once

#include "codec.hpp"

namespace oomplan::ingestion {

/// pydantic 2, without its strict mode: 8.0, "8.0" and true are integers; 0, 1.0, "off" and "t" are booleans; a number
/// is no text.
std::optional<bool> read_pydantic_boolean(const Node& node);
std::optional<std::int64_t> read_pydantic_positive(const Node& node);
std::optional<std::int64_t> read_pydantic_count(const Node& node);
std::optional<double> read_pydantic_number(const Node& node);
std::optional<double> read_pydantic_fraction(const Node& node);
std::optional<std::string> read_pydantic_text(const Node& node);

/// As pydantic, but no text that says false: Axolotl's own checks look at the value before pydantic does, and take
/// every text but "" for true.
std::optional<bool> read_checked_boolean(const Node& node);

/// transformers' HfArgumentParser, through which TRL reads a config: a text is parsed (string_to_bool), "on" is none.
std::optional<bool> read_argparse_boolean(const Node& node);

/// A value that nobody parses: text would be taken for true, or refused.
std::optional<bool> read_plain_boolean(const Node& node);

namespace as {
inline constexpr Codec<bool> pydantic_boolean{"true or false", read_pydantic_boolean, write_boolean};
inline constexpr Codec<std::int64_t> pydantic_positive{"a positive integer", read_pydantic_positive, write_integer};
inline constexpr Codec<std::int64_t> pydantic_count{"an integer, 0 or more", read_pydantic_count, write_integer};
inline constexpr Codec<double> pydantic_number{"a number", read_pydantic_number, write_number};
inline constexpr Codec<double> pydantic_fraction{fraction.expected, read_pydantic_fraction, write_number};
inline constexpr Codec<std::string> pydantic_text{"a text", read_pydantic_text, write_text};
inline constexpr Codec<bool> checked_boolean{"true or false, without quotes", read_checked_boolean, write_boolean};
inline constexpr Codec<bool> argparse_boolean{"true or false", read_argparse_boolean, write_boolean};
inline constexpr Codec<bool> plain_boolean{"true or false, without quotes", read_plain_boolean, write_boolean};
}  // namespace as

}  // namespace oomplan::ingestion
