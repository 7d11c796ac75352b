#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "oomplan/arguments/arguments.hpp"
#include "oomplan/arguments/command_tree.hpp"

namespace oomplan {
namespace {

constexpr std::array<std::string_view, 4> path_words{"FILE", "DIR", "FOLDER", "PATH"};
constexpr std::array<std::string_view, 5> words_for_paths{"CONFIG", "LOG", "EVENTS", "PATH", "FILE"};

bool names_path(std::string_view type) {
  return std::ranges::any_of(path_words, [&](std::string_view word) { return type.find(word) != type.npos; });
}

/// CLI11 has what a value may be behind its type: "WHEN:{auto,always,never}".
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == type.npos || end == type.npos || end < begin) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionOutline outline_of(const CLI::Option& option) {
  OptionOutline out{.about = option.get_description(), .is_word = option.get_positional()};
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  out.choices = choices_in(type);
  out.type = type.substr(0, type.find(':'));
  if (out.is_word) {
    out.names = {option.get_single_name()};
    out.takes_path = std::ranges::count(words_for_paths, out.names.front()) > 0;
    return out;
  }
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.takes_path = names_path(out.type);
  return out;
}

CommandOutline outline_of(const CLI::App& app) {
  CommandOutline out{.name = app.get_name(), .about = app.get_description(), .group = app.get_group()};
  for (const CLI::Option* option : app.get_options()) out.options.push_back(outline_of(*option));
  for (const CLI::App* command : app.get_subcommands({})) out.commands.push_back(outline_of(*command));
  out.examples = app.get_footer();
  return out;
}

}  // namespace

CommandOutline ArgumentParser::outline() const { return outline_of(*app_); }

}  // namespace oomplan
