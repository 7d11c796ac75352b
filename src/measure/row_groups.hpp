// The pieces of a Parquet file, by its footer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "room.hpp"

namespace oomplan::measure {

/// As the file says; a file may lie, but never below 0.
struct RowGroup {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;  ///< As they lie on the disk.
};

struct ParquetRows {
  std::int64_t declared = 0;  ///< Of the whole file, by its own count.
  std::vector<RowGroup> groups{};
};

/// Errors: as for reading the file.
Result<ParquetRows> row_groups_of(const std::string& path, const Room& room);

}  // namespace oomplan::measure
