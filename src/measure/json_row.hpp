// One JSON value to the canonical form: the only file that knows simdjson's parser.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "row_batch.hpp"
#include "source.hpp"

namespace oomplan::measure {

class JsonRows {
 public:
  explicit JsonRows(const Input& input);
  ~JsonRows();
  JsonRows(const JsonRows&) = delete;
  JsonRows& operator=(const JsonRows&) = delete;

  /// Puts one row into `out`. After `text` there are Records::padding bytes that can be read. Where it is no JSON:
  /// whether it was skipped, or the error.
  Result<bool> add(std::string_view text, std::int64_t row, std::int64_t offset, RowBatch& out);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  const std::string path_;
  const Room room_;
  const Wanted wanted_;
  KeyColumns* const key_;
  const std::function<bool(const Diagnostic&)> skip_;
};

}  // namespace oomplan::measure
