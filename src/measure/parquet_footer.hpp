// A look at a Parquet file's footer before Arrow sees it: its library follows a schema as deep as one says, until the
// stack ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oomplan/result.hpp"
#include "room.hpp"

namespace oomplan::measure {

/// Deeper than any that is written in earnest; each level takes a few kilobytes of stack.
inline constexpr std::size_t deepest_schema = 100;

inline constexpr const char* encrypted = "it is encrypted, and nothing here takes keys";

/// Why the footer (Thrift's compact protocol, as between the two marks) is not handed on; nothing where it may be.
std::optional<std::string> objection_to_footer(std::string_view footer);

/// The same of the file at `path`, whose end is looked at first. A footer takes about ten times its bytes once it is
/// read, of which there are room.pool. Errors: measure/bad-file, measure/over-budget, read/truncated.
Diagnostics objection_to_file(const std::string& path, const Room& room);

}  // namespace oomplan::measure
