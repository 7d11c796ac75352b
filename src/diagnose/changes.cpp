#include "changes.hpp"

#include <string_view>

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_lines = 400;

bool heads_hunk(std::string_view text) { return text.starts_with("@@ -") && text.find(" @@", 4) != text.npos; }

bool may_be_of_hunk(std::string_view text) {
  return text.empty() || std::string_view("+- \\").find(text.front()) != std::string_view::npos;
}

bool is_indented(std::string_view text) { return text.empty() || text.starts_with("    "); }

}  // namespace

bool stands_in_change(const std::vector<Line>& lines, std::size_t index) {
  bool hunk = may_be_of_hunk(lines[index].body) && !lines[index].body.empty();
  bool message = is_indented(lines[index].body) && !lines[index].body.empty();
  for (std::size_t i = index, seen = 0; i-- > 0 && (hunk || message) && seen < most_lines; ++seen) {
    const std::string_view text = lines[i].body;
    if (lines[i].file != lines[index].file || lines[i + 1].header) return false;
    if (hunk && heads_hunk(text)) return true;
    if (message && text.starts_with("Date: ") && i > 0 && lines[i - 1].body.starts_with("Author: ")) return true;
    hunk = hunk && may_be_of_hunk(text);
    message = message && is_indented(text);
  }
  return false;
}

}  // namespace oomplan::diagnose
