#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "errors.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

/// The subcommand that was meant, or the program itself.
const CLI::App& innermost(const CLI::App& program) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  return chosen.empty() ? program : *chosen.front();
}

std::vector<std::string> vocabulary(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : app.get_subcommands({})) words.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return words;
}

/// The first word that no one knows, if something known is near it.
std::string near_word(const CLI::App& app, std::span<char* const> words) {
  const std::vector<std::string> known = vocabulary(app);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  for (const std::string_view word : words.subspan(std::min<std::size_t>(1, words.size()))) {
    const std::string_view name = word.substr(0, word.find('='));
    if (std::find(candidates.begin(), candidates.end(), name) != candidates.end()) continue;
    if (const auto near = nearest(name, candidates)) return fmt::format("did you mean '{}'? ", *near);
  }
  return {};
}

std::string command_line_of(const CLI::App& app) {
  return app.get_parent() ? app.get_parent()->get_name() + " " + app.get_name() : app.get_name();
}

/// As JSON where that was asked for: then there is one object, whatever happens.
Outcome refusal(Diagnostic error, std::span<char* const> words) {
  const auto is = [](std::string_view wanted) { return [wanted](const char* word) { return wanted == word; }; };
  const auto end = std::ranges::find_if(words, is("--"));  // what stands there is another program's
  const bool json = std::any_of(words.begin(), end, is("--json"));
  return outcome_of(collect(failed({std::move(error)})), json ? "json" : "text", {});
}

}  // namespace

Outcome help_or_version(const CLI::App& program, const CLI::Success& wanted) {
  const bool version = wanted.get_name() == "CallForVersion";
  return {.code = ExitCode::ok, .out = version ? std::string(wanted.what()) + "\n" : program.help()};
}

Outcome misused(const CLI::App& program, const CLI::ParseError& error, std::span<char* const> words) {
  const CLI::App& app = innermost(program);
  Diagnostic usage{.code = "cli/usage", .message = error.what()};
  usage.hint = near_word(app, words) + fmt::format("'{} --help' shows what there is", command_line_of(app));
  return refusal(std::move(usage), words);
}

Outcome out_of_memory(std::span<char* const> words) {
  return refusal({.code = "cli/no-memory", .message = "the system has no more memory"}, words);
}

Outcome crashed(const std::string& what, std::span<char* const> words) {
  return refusal({.code = "cli/bug",
                  .message = "a bug in oomplan, not in your config: " + what,
                  .hint = "please report it with the config and the command line"},
                 words);
}

}  // namespace oomplan::cli
