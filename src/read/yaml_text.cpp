#include "yaml_text.hpp"

namespace oomplan::read {

std::size_t YamlText::break_size(std::size_t ahead) const {
  const char first = peek(ahead);
  if (first == '\n') return 1;
  if (first == '\r') return peek(ahead + 1) == '\n' ? 2 : 1;
  if (first == '\xC2') return peek(ahead + 1) == '\x85' ? 2 : 0;
  if (first != '\xE2' || peek(ahead + 1) != '\x80') return 0;
  return is("\xA8\xA9", ahead + 2) ? 3 : 0;
}

bool YamlText::is_marker(std::string_view marker) const {
  return column() == 0 && text_.substr(at_).starts_with(marker) && is_blank(marker.size());
}

std::string_view YamlText::take(std::size_t count) {
  const std::string_view out = text_.substr(at_, count);
  forward(out.size());
  return out;
}

std::string_view YamlText::take_break() {
  const std::size_t size = break_size();
  if (size == 0) return {};
  const std::string_view written = take(size);
  ++line_;
  line_start_ = at_;
  return size == 3 ? written : std::string_view("\n");
}

}  // namespace oomplan::read
