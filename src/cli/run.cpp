#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "given_input.hpp"
#include "oomplan/cli/cli.hpp"
#include "screen.hpp"
#include "usage.hpp"
#include "write_all.hpp"

namespace oomplan {
namespace {

using cli::Command;
using cli::ExitCode;
using cli::Outcome;
using cli::Terminal;
using cli::write_all;

/// A shell leaves its loop or script only where what it ran died of the interrupt itself.
void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What machines read (JSON, XML) is UTF-8 by its own rules.
void put_in_ascii(Outcome& outcome) {
  if (!outcome.out.starts_with('{') && !outcome.out.starts_with('<')) outcome.out = cli::in_ascii(outcome.out);
  outcome.err = cli::in_ascii(outcome.err);
}

/// Straight to the descriptors: a failure shows here and not in an exit handler that nobody asks.
int put(Outcome outcome) {
  if (!cli::has_utf8()) put_in_ascii(outcome);
  if (isatty(STDERR_FILENO) != 0) outcome.err = cli::in_columns(outcome.err, cli::columns());
  // The answer first, then what there is to say of it.
  const bool written = outcome.interrupted || write_all(STDOUT_FILENO, outcome.out);
  const int error = errno;
  write_all(STDERR_FILENO, outcome.err);
  if (outcome.interrupted) die_of(SIGINT);
  if (written) return static_cast<int>(outcome.code);
  if (error == EPIPE) die_of(SIGPIPE);  // its reader has had enough: no error, and as all programs end then
  write_all(STDERR_FILENO, fmt::format("oomplan: cannot write to standard output: {}\n", std::strerror(error)));
  return static_cast<int>(ExitCode::invalid);
}

// A closed one would be taken by our own files, and what goes to standard output would go into them. In its place
// stands one that takes nothing, as it did.
void hold_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) == -1) open("/dev/null", O_RDONLY);
}

std::vector<Command> add_commands(const ArgumentParser& program) {
  std::vector<Command> all;
#define OOMPLAN_ENTRY(name) all.push_back(cli::commands::name(program));
#include "registry/commands.inc"
#undef OOMPLAN_ENTRY
  return all;
}

Outcome dispatch(std::span<char* const> words, const std::function<Terminal(const std::string& colour)>& terminal) {
  Arguments program("oomplan", "Predicts whether a training run fits on a GPU, from its config, without a GPU.",
                    {"Plan", "Diagnose", "Data", "Program"});
  program.add_version(fmt::format("oomplan {}", version()));
  std::string colour = "auto";
  program.parser()
      .option("--color", colour, "Colour in text: auto (where it is a terminal), always or never")
      .among({"auto", "always", "never"})
      .type_name("WHEN");
  const std::vector<Command> commands = add_commands(program.parser());
  const ParsedArguments parsed = program.parse(static_cast<int>(words.size()), words.data());
  if (parsed.kind == ParsedArguments::Kind::misused) return cli::misused(parsed, words);
  if (parsed.kind == ParsedArguments::Kind::print) return {.out = parsed.text};
  for (const Command& command : commands) {
    if (command.parser.is_asked()) return command.run(terminal(colour));
  }
  return {};
}

/// An exception that reaches this is a bug of ours, or the end of memory.
Outcome caught(std::span<char* const> words, const std::function<Terminal(const std::string& colour)>& terminal) {
  try {
    return dispatch(words, terminal);
  } catch (const std::bad_alloc&) {
    return cli::out_of_memory(words);
  } catch (const std::exception& error) {
    return cli::crashed(error.what(), words);
  }
}

}  // namespace

int run(int argc, char** argv, const std::function<std::string()>& find_arrow) {
  hold_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // A closed pipe ends what writes the answer, and no job of ours before.
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  return put(caught(words, [&](const std::string& colour) {
    return Terminal{.colour = cli::wants_colour(colour),
                    .width = cli::columns(),
                    .words = words,
                    .on_screen = cli::has_columns(),
                    .find_arrow = find_arrow};
  }));
}

Reply reply_to(const std::vector<std::string>& words, std::string_view input) {
  std::vector<std::string> all{"oomplan"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  const cli::GivenInput given(input);
  Outcome outcome = caught(pointers, [&pointers](const std::string& /*colour*/) {
    return Terminal{.words = pointers, .own_process = false};
  });
  return {static_cast<int>(outcome.code), std::move(outcome.out), std::move(outcome.err)};
}

}  // namespace oomplan
