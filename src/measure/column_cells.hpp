// One cell of an Arrow column to the canonical form.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "byte_buffer.hpp"

namespace oomplan::measure {

class CellWriter {
 public:
  CellWriter() = default;
  CellWriter(const CellWriter&) = delete;
  CellWriter& operator=(const CellWriter&) = delete;
  virtual ~CellWriter() = default;
  virtual bool is_null(std::int64_t row) const = 0;
  /// Of a cell that is not null.
  virtual void put(std::int64_t row, ByteBuffer& out) const = 0;
  /// The name as put_name() has it and the cell; nothing where that is null.
  virtual void put_field(std::string_view name, std::int64_t row, ByteBuffer& out) const {
    if (is_null(row)) return;
    out.put(name);
    put(row, out);
  }
};

/// `column` must outlive it, and be of a type that objection_to() has nothing against.
std::unique_ptr<CellWriter> cell_writer(const arrow::Array& column);

}  // namespace oomplan::measure
