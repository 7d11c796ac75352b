#include <array>
#include <string>
#include <vector>

#include "oomplan/core/text.hpp"
#include "reader.hpp"

namespace oomplan::diagnose {
namespace {

// Of numbers after the bracket: uid tgid total_vm rss … swapents oom_score_adj.
struct Columns {
  std::size_t count;
  std::size_t swap;
};
constexpr std::array<Columns, 3> known{{{7, 5}, {8, 6}, {10, 8}}};

std::string_view next_word(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

Reading counted(std::string name, std::int64_t value) {
  return {.name = std::move(name), .kind = Reading::Kind::integer, .text = std::to_string(value), .integer = value};
}

}  // namespace

std::optional<std::vector<Reading>> task_row(std::string_view body) {
  const std::size_t close = body.starts_with('[') ? body.substr(0, 16).find(']') : std::string_view::npos;
  if (close != std::string_view::npos) body.remove_prefix(close + 1);
  std::vector<std::int64_t> numbers;
  std::string_view word = next_word(body);
  while (numbers.size() <= known.back().count) {
    const auto number = parse_integer(word);
    if (!number) break;
    numbers.push_back(*number);
    word = next_word(body);
  }
  for (const Columns& columns : known) {
    if (numbers.size() != columns.count || word.empty()) continue;
    return std::vector<Reading>{counted("row_pid", numbers[1]),
                                counted("rss_pages", numbers[3]),
                                counted("swapents", numbers[columns.swap]),
                                {.name = "row_comm", .text = std::string(word) + std::string(body)}};
  }
  return std::nullopt;
}

}  // namespace oomplan::diagnose
