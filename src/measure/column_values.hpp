// The rows of an Arrow batch as values.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "oomplan/measure/values.hpp"

namespace oomplan::measure {

/// Tells the cells of one column; it knows the column's type once.
class CellTeller {
 public:
  CellTeller() = default;
  CellTeller(const CellTeller&) = delete;
  CellTeller& operator=(const CellTeller&) = delete;
  virtual ~CellTeller() = default;
  virtual void tell(std::int64_t row, Values& values) const = 0;
};

class ColumnValues {
 public:
  /// Of columns that objection_to() has nothing against.
  explicit ColumnValues(std::shared_ptr<arrow::RecordBatch> batch);
  ~ColumnValues();
  /// One object, with the columns in their order.
  void tell(std::int64_t row, Values& values) const;

 private:
  struct Column {
    std::string name{};
    std::unique_ptr<CellTeller> cells{};
  };
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<Column> columns_{};
};

}  // namespace oomplan::measure
