#include "source.hpp"

#include "oomplan/text.hpp"

namespace oomplan::measure {

Diagnostic bad_row(const std::string& path, std::int64_t row, std::int64_t offset, const std::string& why) {
  return {.code = "measure/bad-row",
          .message = "row " + with_separators(row) + ", at byte " + with_separators(offset) + ": " + why,
          .where = {path},
          .hint = "--on-error skip leaves such rows out and counts them"};
}

Diagnostic bad_file(const std::string& path, const std::string& why) {
  return {.code = "measure/bad-file", .message = why, .where = {path}};
}

}  // namespace oomplan::measure
