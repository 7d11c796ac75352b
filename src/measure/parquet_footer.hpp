// A look at a Parquet file's footer before Arrow sees it: its library follows a schema as deep as one says, until the
// stack ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"
#include "room.hpp"

namespace oomplan::measure {

/// Deeper than any that is written in earnest; each level takes a few kilobytes of stack.
inline constexpr std::size_t deepest_schema = 100;

inline constexpr const char* encrypted = "it is encrypted, and nothing here takes keys";

// Arrow's library holds the bytes, Thrift's objects with their texts, and a schema made of them.
inline constexpr std::int64_t copies_of_footer = 5;

/// What a footer has, and so what it takes. The sizes were measured with columns by the ten thousand, and rounded up.
struct FooterCounts {
  std::int64_t bytes = 0;
  std::int64_t elements = 0;  ///< Nodes of the schema,
  std::int64_t leaves = 0;    ///< of which so many have values,
  std::int64_t chunks = 0;    ///< in so many pieces: columns times row groups.

  /// Bytes that it takes once it is read.
  std::int64_t as_read() const { return copies_of_footer * bytes + 2'500 * elements + 1'200 * chunks; }
  /// Bytes for reading the columns, beside their pages.
  std::int64_t readers() const { return 7'000 * leaves; }
};

/// Why the footer (Thrift's compact protocol, as between the two marks) is not handed on; nothing where it may be.
std::optional<std::string> objection_to_footer(std::string_view footer, FooterCounts& counts);

/// Of the file at `path`, whose end is looked at first. Read, it takes at most room.pool. Errors: measure/bad-file,
/// measure/over-budget, read/truncated.
Result<FooterCounts> footer_of(const std::string& path, const Room& room);

/// "the footer of 3 columns in 6 chunks"
std::string what_of(const FooterCounts& counts);

}  // namespace oomplan::measure
