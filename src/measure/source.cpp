#include "source.hpp"

#include "oomplan/core/text.hpp"

namespace oomplan::measure {

Result<bool> leave_out(const Skip& skip, Diagnostic error) {
  if (skip(error)) return false;
  if (error.hint.empty()) error.hint = "--on-error skip leaves such rows out and counts them";
  return error;
}

Diagnostic bad_row(const std::string& path, std::int64_t row, std::int64_t offset, const std::string& why) {
  return {.code = "measure/bad-row",
          .message = "row " + with_separators(row) + ", at byte " + with_separators(offset) + ": " + why,
          .where = {path}};
}

Diagnostic bad_file(const std::string& path, const std::string& why) {
  return {.code = "measure/bad-file", .message = why, .where = {path}};
}

}  // namespace oomplan::measure
