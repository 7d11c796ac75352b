// One JSON value to the canonical form: the only file that knows simdjson's parser.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "records.hpp"
#include "row_batch.hpp"
#include "source.hpp"

namespace oomplan::measure {

class JsonRows {
 public:
  explicit JsonRows(const Input& input);
  ~JsonRows();
  JsonRows(const JsonRows&) = delete;
  JsonRows& operator=(const JsonRows&) = delete;

  /// Puts one row into `out`. False where it is none and was left out. Errors: measure/bad-row, measure/over-budget.
  Result<bool> add(const Record& row, RowBatch& out);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  const std::string path_;
  const Room room_;
  const Wanted wanted_;
  KeyColumns* const key_;
  const Skip skip_;
};

}  // namespace oomplan::measure
