#include "tables.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_rows = 200;

bool is_table_row(std::string_view text) {
  return text.starts_with('|') && text.find('|', 1) != std::string_view::npos;
}

bool is_table_rule(std::string_view text) {
  return is_table_row(text) && text.find('-') != std::string_view::npos &&
         text.find_first_not_of("|-: ") == std::string_view::npos;
}

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> out;
  while (!row.empty()) {
    row.remove_prefix(1);
    std::string_view cell = row.substr(0, row.find('|'));
    row.remove_prefix(cell.size());
    const auto is_sign = [](char c) { return c == ' ' || c == '*' || c == '`'; };
    while (!cell.empty() && is_sign(cell.front())) cell.remove_prefix(1);
    while (!cell.empty() && is_sign(cell.back())) cell.remove_suffix(1);
    if (!cell.empty()) out.push_back(lowered(cell));
  }
  return out;
}

}  // namespace

bool stands_in_explaining_table(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index) {
  const auto has = [&](std::size_t i, auto&& is) {
    return i < lines.size() && lines[i].file == lines[index].file && is(lines[i].body);
  };
  if (!has(index, is_table_row)) return false;
  std::size_t rule = index;
  while (rule > 0 && index - rule < most_rows && has(rule, is_table_row) && !is_table_rule(lines[rule].body)) --rule;
  if (!has(rule, is_table_rule) || rule == 0 || rule == index || !has(rule - 1, is_table_row)) return false;
  if (!has(rule + 1, is_table_row) || !has(rule + 2, is_table_row)) return false;
  const std::vector<std::string> headings = cells_of(lines[rule - 1].body);
  const auto is_of = [&](Wording list) {
    return [&, list](const std::string& one) { return list_of(wordings, list).have(one); };
  };
  return !headings.empty() && is_of(Wording::columns_of_failures)(headings.front()) &&
         std::ranges::any_of(headings, is_of(Wording::columns_that_explain));
}

}  // namespace oomplan::diagnose
