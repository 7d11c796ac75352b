#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"
#include "syntax.hpp"

namespace oomplan::read {
namespace {

std::string hex(char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

void check_utf8(const Source& source) {
  const std::string_view text = source.text();
  const bool utf16 = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  if (utf16) source.refuse(0, "read/encoding", "the file is UTF-16, not UTF-8", "save it as UTF-8");
  const std::size_t valid = valid_utf8(text);
  if (valid == text.size()) return;
  source.refuse(valid, "read/encoding", "byte " + hex(text[valid]) + " is not UTF-8", "save the file as UTF-8");
}

// Offsets count bytes after the first mark, and the libraries skip a second one without telling.
void check_marks(const Source& source) {
  if (source.text().starts_with("\xEF\xBB\xBF")) {
    source.refuse(0, "read/encoding", "the file begins with two byte order marks", "remove them");
  }
}

void check_control(const Source& source) {
  const std::string_view text = source.text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_control(text[at])) continue;
    const std::string what = text[at] == '\0' ? "a NUL byte" : "the control character " + hex(text[at]);
    source.refuse(at, "read/binary", what + " is in the file, which no config has", "is this the right file?");
  }
}

}  // namespace

void check_text(const Source& source) {
  if (source.text().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    source.refuse(0, "read/empty", "the file is empty");
  }
  check_utf8(source);
  check_marks(source);
  check_control(source);
}

}  // namespace oomplan::read
