// A subcommand. Each file in commands/ defines the one that it is named after.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>

#include "oomplan/arguments/arguments.hpp"
#include "outcome.hpp"

namespace oomplan::cli {

struct Terminal {
  bool colour = false;              ///< Standard output is a terminal that wants colour.
  std::size_t width = usual_width;  ///< Columns for text.
  std::span<char* const> words{};   ///< The command line, the program's name first.
  bool on_screen = false;           ///< The width is that of a screen.
  bool own_process = true;          ///< It is the command's own, to fork and to replace; else another program's.
  std::function<std::string()> find_arrow{};  ///< As run() takes it.
};

/// The words after the first "--", as they stand.
inline std::vector<std::string> command_in(std::span<char* const> words) {
  const auto mark = std::ranges::find_if(words, [](const char* word) { return std::string_view(word) == "--"; });
  return mark == words.end() ? std::vector<std::string>{} : std::vector<std::string>(mark + 1, words.end());
}

struct Command {
  ArgumentParser parser;  ///< Knows after parsing whether it was asked for.
  std::function<Outcome(const Terminal&)> run{};
};

/// `app` with the options that `add_options` declares, answered by `run`.
template <class Options>
Command command_with(const ArgumentParser& app, void (*add_options)(const ArgumentParser&, Options&),
                     Outcome (*run)(const Options&, const Terminal&)) {
  auto options = std::make_shared<Options>();
  add_options(app, *options);
  return {app, [options, run](const Terminal& terminal) { return run(*options, terminal); }};
}

/// Of a command that needs a process of its own, where it has none: cli/usage.
Outcome needs_own_process(const std::string& command);

namespace commands {
#define OOMPLAN_ENTRY(name) Command name(const ArgumentParser& program);
#include "registry/commands.inc"
#undef OOMPLAN_ENTRY
}  // namespace commands

}  // namespace oomplan::cli
