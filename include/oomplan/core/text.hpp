// Numbers and names as people write and read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

/// "512 B", "1.50 KiB", "22.03 GiB": two decimals, binary units, rounded to nearest (never "1024.00 KiB").
std::string to_text(Bytes bytes);

/// The bytes with thousands separated: "23,657,512,960".
std::string with_separators(std::int64_t value);

/// "1 rank", "2,000 rows", "3 batches": the noun as it stands for one.
std::string counted(std::int64_t count, std::string_view noun);

/// Reads "24GiB", "24 GiB", "24G" (binary), "24GB" (decimal, as SI has it), "512MiB", "1.5TiB", "1024" (bytes).
/// Units in any case, spaces around; a fraction only with a unit above bytes, rounded to the nearest byte.
/// Nothing on negative, malformed or out-of-range text.
std::optional<Bytes> parse_bytes(std::string_view text);

/// A decimal integer with optional sign and nothing else ("_" separators as in YAML 1.1 are accepted between digits).
/// Nothing where it does not fit in 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// A finite decimal number ("1e-4", "0.05", "3", "1_000.5"). Nothing for "nan", "inf", trailing text or a size that no
/// double has. Independent of locale.
std::optional<double> parse_number(std::string_view text);

/// The candidate nearest to `word` by edit distance (case and '-'/'_' count nothing), or nothing where none is near
/// (at most a third of the word's letters differ, and at least one letter agrees). The first of equals.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string_view> candidates);

/// ASCII's letters in lower case; the rest as it is.
std::string lowered(std::string_view text);

/// How many bytes of `text`, from its beginning, are valid UTF-8 (no surrogates, nothing overlong).
std::size_t valid_utf8(std::string_view text);

/// `text` fit for a terminal: each control character, direction override and byte that is not UTF-8 becomes one "?".
/// Names and excerpts come from hostile files, and a terminal obeys escape sequences.
std::string printable(std::string_view text);

}  // namespace oomplan
