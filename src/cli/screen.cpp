#include "screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "oomplan/core/text.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::cli {
namespace {

constexpr std::int64_t fewest = 60;
constexpr std::int64_t most = 200;

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::int64_t columns_of_terminal() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return std::int64_t{usual_width};
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> plain{{{"×", "x"},
                                                                               {"→", "->"},
                                                                               {"·", "*"},
                                                                               {"…", "..."},
                                                                               {"ᵗ", "^T"},
                                                                               {"│", "|"},
                                                                               {"┃", "|"},
                                                                               {"█", "#"},
                                                                               {"▒", "+"},
                                                                               {"░", "."}}};

}  // namespace

bool wants_colour(const std::string& when) {
  if (when != "auto") return when == "always";
  const std::string_view terminal = variable("TERM");
  if (!variable("NO_COLOR").empty()) return false;
  return isatty(STDOUT_FILENO) != 0 && !terminal.empty() && terminal != "dumb";
}

std::size_t columns() {
  const auto named = parse_integer(variable("COLUMNS"));
  const std::int64_t out = named && *named > 0 ? *named : columns_of_terminal();
  return static_cast<std::size_t>(std::clamp(out, fewest, most));
}

bool has_columns() {
  const auto named = parse_integer(variable("COLUMNS"));
  return (named && *named > 0) || isatty(STDOUT_FILENO) != 0;
}

bool has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = lowered(variable(name));
    if (value.empty()) continue;
    return value.find("utf-8") != value.npos || value.find("utf8") != value.npos;
  }
  return true;
}

std::string in_columns(std::string_view text, std::size_t width) {
  constexpr std::string_view indent = "  ";
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_excerpt = line.starts_with("    ");
    for (std::size_t room = width; !is_excerpt && line.size() > room; room = width - indent.size()) {
      const std::size_t blank = line.rfind(' ', room);
      if (blank == line.npos || blank == 0) break;
      out += std::string(line.substr(0, blank)) + "\n" + std::string(indent);
      line.remove_prefix(blank + 1);
    }
    out += std::string(line) + "\n";
  }
  return out;
}

std::string in_ascii(std::string text) {
  for (const auto& [character, instead] : plain) {
    for (std::size_t at = text.find(character); at != text.npos; at = text.find(character, at + instead.size()))
      text.replace(at, character.size(), instead);
  }
  return text;
}

}  // namespace oomplan::cli
