#include "yaml_text.hpp"

namespace oomplan::read {

std::size_t YamlText::break_size_of(std::string_view rest) {
  if (rest.starts_with("\r\n") || rest.starts_with("\xC2\x85")) return 2;
  if (rest.starts_with('\n') || rest.starts_with('\r')) return 1;
  return rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9") ? 3 : 0;
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
