#include "row_writer.hpp"

namespace oomplan::measure {

Result<std::unique_ptr<RowWriter>> row_writer(const std::string& path, const Room& room) {
  if (path.ends_with(".parquet")) return parquet_writer(path, room);
  if (path.ends_with(".jsonl") || path.ends_with(".jsonl.zst")) return json_lines_writer(path);
  return Diagnostic{.code = "measure/output-kind",
                    .message = "the name does not say what to write",
                    .where = {path},
                    .hint = "it ends in .jsonl, .jsonl.zst or .parquet"};
}

}  // namespace oomplan::measure
