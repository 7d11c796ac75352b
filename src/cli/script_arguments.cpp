#include "script_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

/// Flags, numbers and JSON as they stand; "no" is a word to argparse.
std::string yaml_of(const std::string& value) {
  const bool flag = value == "true" || value == "True" || value == "false" || value == "False";
  const bool json = (value.starts_with('{') || value.starts_with('[')) && value.find('\n') == value.npos;
  return flag || json || parse_number(value) ? value : in_quotes(value);
}

}  // namespace

std::pair<std::string, std::string> ScriptArgument::as_yaml() const {
  constexpr std::string_view negated = "no_";
  if (values.empty() && key.starts_with(negated) && key != "no_cuda") return {key.substr(negated.size()), "false"};
  if (values.empty()) return {key, "true"};
  if (values.size() == 1) return {key, yaml_of(values.front())};
  std::string list;
  for (const std::string& value : values) list += (list.empty() ? "" : ", ") + yaml_of(value);
  return {key, "[" + list + "]"};
}

// "-1" and "-1e-4" are values.
bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-' && !parse_number(word); }

Result<std::vector<ScriptArgument>> script_arguments(std::span<const std::string> words) {
  std::vector<ScriptArgument> out;
  for (const std::string& word : words) {
    if (!is_option(word)) {
      if (out.empty())
        return Diagnostic{.code = "cli/usage",
                          .message = fmt::format("\"{}\" stands before any argument's name", word)};
      out.back().values.push_back(word);
      continue;
    }
    const std::size_t begin = std::min(word.find_first_not_of('-'), word.size());
    const std::size_t equals = std::min(word.find('='), word.size());
    ScriptArgument one{word.substr(begin, equals - begin)};
    std::ranges::replace(one.key, '-', '_');
    if (equals < word.size()) one.values.push_back(word.substr(equals + 1));
    out.push_back(std::move(one));
  }
  return out;
}

std::string yaml_text(const std::vector<ScriptArgument>& arguments) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ScriptArgument& one : arguments) {
    auto row = one.as_yaml();
    std::erase_if(rows, [&](const auto& before) { return before.first == row.first; });
    rows.push_back(std::move(row));
  }
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  std::string out;
  for (const auto& [key, value] : rows)
    out += (!key.empty() && std::ranges::all_of(key, is_plain) ? key : in_quotes(key)) + ": " + value + "\n";
  return out;
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n') out += '\\';
    out += c == '\n' ? 'n' : c;
  }
  return out + '"';
}

}  // namespace oomplan::cli
