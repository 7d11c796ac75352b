#include "page.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"
#include "words.hpp"

namespace oomplan::diagnose {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t most_lines = 400;
constexpr std::size_t longest_heading = 60;
constexpr std::size_t lines_of_a_top = 3;
constexpr std::size_t lines_after = 12;  // of a message, what to do about it

constexpr std::array titles{"faq"sv,
                            "frequently asked questions"sv,
                            "troubleshooting"sv,
                            "common errors"sv,
                            "common error messages"sv,
                            "common issues"sv,
                            "common problems"sv,
                            "known issues"sv,
                            "known problems"sv};

// Of Markdown's "## Title"; 0 for a line that is none.
std::size_t level_of(const Line& line) {
  if (line.titled) return 1;
  const std::string_view text = line.body;
  const std::size_t level = std::min(text.find_first_not_of('#'), text.size());
  return level <= 6 && level < text.size() && text[level] == ' ' ? level : 0;
}

// "## 5. Troubleshooting", or "Troubleshooting" alone on its line; "Known issues: /scratch is slow" is a banner.
bool heads_help(std::string_view text) {
  if (text.size() > longest_heading || text.find('?') != std::string_view::npos) return false;
  constexpr std::string_view around = "#*=:_ 0123456789.";
  const std::size_t first = text.find_first_not_of(around);
  if (first == std::string_view::npos) return false;
  const std::string title = lowered(text.substr(first, text.find_last_not_of(around) + 1 - first));
  return std::ranges::find(titles, title) != titles.end();
}

bool is_advice(std::string_view sentence) {
  constexpr std::array beginnings{"reduce "sv, "increase "sv, "lower "sv,  "set "sv,    "try "sv,       "use "sv,
                                  "add "sv,    "delete "sv,   "check "sv,  "a: "sv,     "make sure "sv, "if you "sv,
                                  "you "sv,    "raise "sv,    "if the "sv, "if your "sv};
  const std::string said = lowered(sentence.substr(0, 16)) + ' ';  // the line may end behind the word
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return said.starts_with(one); });
}

// A page tells its reader what to do, in some sentence of the line.
bool advises(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t>*-");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  while (!is_advice(text)) {
    const std::size_t end = text.find(". ");
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 2);
  }
  return true;
}

bool is_of_a_program(const Line& line) {
  return !line.time.empty() || (line.prefixed && !line.titled) || line.rank ||
         line.body.find("%|") != std::string::npos || line.body.starts_with("Traceback (") ||
         line.body.starts_with("File \"");
}

bool tells_of_himself(std::string_view text) {
  return text.find('?') == std::string_view::npos && words_of(text).writer;
}

bool is_at_the_top(const std::vector<Line>& lines, std::size_t index) {
  for (std::size_t i = index, seen = 0; i-- > 0 && lines[i].file == lines[index].file;)
    if (!lines[i].body.empty() && ++seen > lines_of_a_top) return false;
  return true;
}

bool gives_advice(const std::vector<Line>& lines, std::size_t heading, std::size_t index) {
  for (std::size_t i = heading + 1; i < std::min(index + lines_after, lines.size()); ++i) {
    if (lines[i].file != lines[index].file) return false;
    if (i != index && !is_of_a_program(lines[i]) && advises(lines[i].body)) return true;
  }
  return false;
}

}  // namespace

bool stands_on_page_of_help(const std::vector<Line>& lines, std::size_t index) {
  std::size_t least = 7;  // of the headings below
  for (std::size_t i = index + 1, seen = 0; i-- > 0 && seen < most_lines; ++seen) {
    const std::string_view text = lines[i].body;
    if (lines[i].file != lines[index].file || is_of_a_program(lines[i]) || tells_of_himself(text)) return false;
    const std::size_t level = level_of(lines[i]);
    if (heads_help(text)) return (level > 0 ? level < least : is_at_the_top(lines, i)) && gives_advice(lines, i, index);
    if (level > 0) least = std::min(least, level);
    if (i > 0 && lines[i].header) return false;
  }
  return false;
}

}  // namespace oomplan::diagnose
