// The lines of a stretch of a file.
#pragma once

#include <memory>
#include <string>

#include "oomplan/read/byte_source.hpp"
#include "shards.hpp"

namespace oomplan::measure {

/// The bytes of all lines that begin in [part.begin, part.end), each whole, so that parts which follow each other have
/// each line once. Errors: read/missing, read/unreadable.
Result<std::unique_ptr<read::ByteSource>> lines_of(const std::string& path, const Part& part);

}  // namespace oomplan::measure
