// Rows in Arrow's columns: what they weigh, and their canonical form.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "oomplan/core/result.hpp"
#include "row_batch.hpp"
#include "source.hpp"

namespace oomplan::measure {

/// Bytes of the values in rows [begin, end): texts and lists by their contents, without offsets and validity.
std::int64_t value_bytes(const arrow::Array& column, std::int64_t begin, std::int64_t end);

/// Hands out a large batch as batches of about room.batch bytes.
class Slices {
 public:
  explicit Slices(const Input& input) : path_(input.path), room_(input.room), wanted_(input.wanted), key_(input.key) {}
  void put(std::shared_ptr<arrow::RecordBatch> batch);
  bool empty() const { return batch_ == nullptr; }
  /// Errors: measure/bad-file, where a column has a type that has no canonical form; measure/over-budget.
  Result<bool> next(RowBatch& out);

 private:
  std::int64_t bytes_in(std::int64_t begin, std::int64_t end) const;
  std::int64_t taken_by(std::int64_t begin, std::int64_t end) const;

  std::string path_;
  Room room_;
  Wanted wanted_;
  KeyColumns* key_;
  std::shared_ptr<arrow::RecordBatch> batch_{};
  std::int64_t at_ = 0;
};

/// Why a type has no canonical form; nothing where it has.
std::optional<std::string> objection_to(const arrow::DataType& type);

}  // namespace oomplan::measure
