#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "errors.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

/// The first word that no one knows, if something known is near it.
std::string near_word(const std::vector<std::string>& known, std::span<char* const> words) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  for (const std::string_view word : words.subspan(std::min<std::size_t>(1, words.size()))) {
    const std::string_view name = word.substr(0, word.find('='));
    if (std::find(candidates.begin(), candidates.end(), name) != candidates.end()) continue;
    if (const auto near = nearest(name, candidates)) return fmt::format("did you mean '{}'? ", *near);
  }
  return {};
}

/// As JSON where that was asked for: then there is one object, whatever happens.
Outcome refusal(Diagnostic error, std::span<char* const> words) {
  const auto is = [](std::string_view wanted) { return [wanted](const char* word) { return wanted == word; }; };
  const auto end = std::ranges::find_if(words, is("--"));  // what stands there is another program's
  const bool json = std::any_of(words.begin(), end, is("--json"));
  return outcome_of(collect(failed({std::move(error)})), json ? "json" : "text", {});
}

}  // namespace

Outcome needs_own_process(const std::string& command) {
  return outcome_of(collect(failed({{.code = "cli/usage",
                                     .message = "`oomplan " + command + "` needs a process of its own",
                                     .hint = "start the program"}})),
                    "text", {});
}

namespace {

/// The first word, where it is the name of no command.
std::string no_command(const ParsedArguments& arguments, std::span<char* const> words) {
  const bool of_program = arguments.command.find(' ') == std::string::npos;
  if (!of_program || words.size() < 2) return {};
  const std::string word = words.size() > 2 && std::string_view(words[1]) == "help" ? words[2] : words[1];
  if (word == "help") return {};
  const bool is_option = word.starts_with('-') || std::ranges::count(arguments.names, word) > 0;
  return is_option ? "" : "there is no command '" + printable(word) + "'";
}

}  // namespace

Outcome misused(const ParsedArguments& arguments, std::span<char* const> words) {
  const std::string unknown = no_command(arguments, words);
  Diagnostic usage{.code = "cli/usage", .message = unknown.empty() ? arguments.text : unknown};
  usage.hint = near_word(arguments.names, words) + fmt::format("'{} --help' shows what there is", arguments.command);
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
