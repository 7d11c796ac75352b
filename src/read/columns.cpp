#include "columns.hpp"

#include <algorithm>

namespace oomplan::read {
namespace {

constexpr std::size_t stretch = 64;  // bytes

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace

Columns::Columns(const Source& source) : source_(source), before_{0} {
  const std::string_view text = source.text();
  for (std::size_t at = 0; at < text.size(); at += stretch) {
    before_.push_back(before_.back() + static_cast<std::uint32_t>(count(text.substr(at, stretch))));
  }
}

std::size_t Columns::characters_before(std::size_t offset) const {
  const std::size_t whole = offset / stretch;
  return before_[whole] + count(source_.text().substr(whole * stretch, offset % stretch));
}

std::size_t Columns::offset(int line, int column) const {
  const std::string_view text = source_.text();
  const std::size_t wanted =
      characters_before(source_.line_start(line)) + static_cast<std::size_t>(std::max(column, 1) - 1);
  const auto next = std::upper_bound(before_.begin(), before_.end(), wanted);
  std::size_t at = static_cast<std::size_t>(next - before_.begin() - 1) * stretch;
  if (at >= text.size()) return text.size();
  for (std::size_t seen = before_[at / stretch]; at < text.size(); ++at) {
    if (begins_character(text[at]) && seen++ == wanted) break;
  }
  return at;
}

}  // namespace oomplan::read
