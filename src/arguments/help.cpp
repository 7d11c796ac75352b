#include "help.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace oomplan {
namespace {

constexpr std::size_t page = 100;
constexpr std::size_t texts = 24;  // The column where what is said of an option begins.

/// `text` broken at blanks; it begins at column `at`, and goes on at column `indent`.
std::string wrapped(std::string_view text, std::size_t at, std::size_t indent) {
  std::string out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    const bool first = out.empty();
    if (!first && at + 1 + word.size() > page) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out;
}

/// A name at the left and its text in a column; below it where the name is too long.
std::string line(const std::string& name, std::string_view text) {
  const std::string head = "  " + name;
  const std::string gap =
      head.size() + 2 > texts ? "\n" + std::string(texts, ' ') : std::string(texts - head.size(), ' ');
  return head + gap + wrapped(text, texts, texts) + "\n";
}

/// Without what CLI11 adds of its checks: "NAME" of "NAME:{a,b,c}".
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return option.get_type_size() == 0 ? "" : type.substr(0, type.find(':'));
}

}  // namespace

HelpFormatter::HelpFormatter(std::vector<std::string> groups) : groups_(std::move(groups)) { label("REQUIRED", ""); }

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  const std::vector<const CLI::Option*> arguments =
      app->get_options([](const CLI::Option* one) { return !one->get_group().empty() && one->get_positional(); });
  const CLI::App* above = app->get_parent();
  const auto taken_over = above == nullptr ? std::vector<const CLI::Option*>{} : above->get_options({});
  const std::vector<const CLI::Option*> options = app->get_options([&](const CLI::Option* one) {
    return !one->get_group().empty() && one->nonpositional() && std::ranges::count(taken_over, one) == 0;
  });
  std::string out = make_description(app) + "Usage: " + name + (options.empty() ? "" : " [OPTIONS]");
  for (const CLI::Option* one : arguments) out += " " + make_option_usage(one);
  if (app->get_require_subcommand_min() > 0) out += " COMMAND";
  out += "\n";
  for (const auto& [title, group] : {std::pair("Arguments", &arguments), std::pair("Options", &options)}) {
    if (!group->empty()) out += "\n" + std::string(title) + ":\n";
    for (const CLI::Option* one : *group) out += make_option(one, group == &arguments);
  }
  return out + make_subcommands(app, mode) + "\n" + make_footer(app);
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), 0, 0) + "\n";
}

std::string HelpFormatter::make_subcommands(const CLI::App* app, CLI::AppFormatMode /*mode*/) const {
  std::string out;
  for (const std::string& group : groups_) {
    std::string commands;
    for (const CLI::App* command : app->get_subcommands([&](const CLI::App* one) { return one->get_group() == group; }))
      commands += line(command->get_name(), command->get_description());
    if (!commands.empty()) out += "\n" + group + ":\n" + commands;
  }
  return out;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = option->get_name(is_positional, !is_positional);
  for (std::size_t at = name.find(','); at != std::string::npos; at = name.find(',', at + 2)) name.insert(at + 1, " ");
  const std::string type = is_positional ? "" : type_of(*option);
  return line(name + (type.empty() ? "" : " " + type), option->get_description());
}

std::string HelpFormatter::make_footer(const CLI::App* app) const { return app->get_footer(); }

}  // namespace oomplan
