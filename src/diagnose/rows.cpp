// Rows of tables that no word of their own tells: the kernel's of its tasks, YOLO's of its epochs.
#include <array>
#include <cstdlib>
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

bool is_real(std::string_view word) {
  return word.find('.') != std::string_view::npos && word.find_first_not_of("0123456789.e+-") == std::string_view::npos;
}

Reading of_gib(std::string name, std::string_view text) {
  constexpr double gib = 1 << 30;
  const double number = std::strtod(std::string(text).c_str(), nullptr);
  return {.name = std::move(name),
          .kind = Reading::Kind::bytes,
          .text = std::string(text),
          .integer = static_cast<std::int64_t>(number * gib)};
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

std::optional<std::vector<Reading>> epoch_row(std::string_view body) {
  const std::string_view epochs = next_word(body);
  const std::size_t slash = epochs.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto step = parse_integer(epochs.substr(0, slash));
  const auto steps = parse_integer(epochs.substr(slash + 1));
  const std::string_view memory = next_word(body);
  if (!step || !steps || !memory.ends_with('G') || !is_real(memory.substr(0, memory.size() - 1))) return std::nullopt;
  std::size_t losses = 0;
  std::string_view word = next_word(body);
  for (; is_real(word); word = next_word(body)) ++losses;
  if (losses < 2 || !parse_integer(word) || !parse_integer(next_word(body)) || !next_word(body).empty())
    return std::nullopt;
  return std::vector<Reading>{counted("step", *step), counted("steps", *steps), of_gib("step_reserved", memory)};
}

}  // namespace oomplan::diagnose
