// One cell of an Arrow column to the canonical form.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>

namespace oomplan::measure {

class CellWriter {
 public:
  CellWriter() = default;
  CellWriter(const CellWriter&) = delete;
  CellWriter& operator=(const CellWriter&) = delete;
  virtual ~CellWriter() = default;
  virtual bool is_null(std::int64_t row) const = 0;
  /// Of a cell that is not null.
  virtual void put(std::int64_t row, std::string& out) const = 0;
};

/// `column` must outlive it, and be of a type that objection_to() has nothing against.
std::unique_ptr<CellWriter> cell_writer(const arrow::Array& column);

}  // namespace oomplan::measure
