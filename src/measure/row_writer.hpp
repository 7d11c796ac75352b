// Datasets that are written. Each kind is one function below.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "oomplan/core/result.hpp"
#include "room.hpp"
#include "row_batch.hpp"
#include "row_set.hpp"

namespace oomplan::measure {

class RowWriter {
 public:
  RowWriter() = default;
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  virtual ~RowWriter() = default;
  /// The rows of the batch, whose first has the number `first`, but for those in `left_out`.
  virtual Result<bool> write(const RowBatch& batch, std::int64_t first, const RowSet& left_out) = 0;
  /// After the last: the file appears under its name.
  virtual Result<bool> finish() = 0;
};

/// By the ending of `path`. Errors: measure/output-kind, measure/output-exists, measure/cannot-write.
Result<std::unique_ptr<RowWriter>> row_writer(const std::string& path, const Room& room);

/// The rows' numbers, one a line.
Result<std::unique_ptr<RowWriter>> index_writer(const std::string& path);
/// JSON Lines, packed with zstd where the path ends so.
Result<std::unique_ptr<RowWriter>> json_lines_writer(const std::string& path);
/// Only rows that came in Arrow's columns, all of one schema.
Result<std::unique_ptr<RowWriter>> parquet_writer(const std::string& path, const Room& room);

}  // namespace oomplan::measure
