#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "heap.hpp"
#include "oomplan/data/data.hpp"

namespace oomplan {
namespace {

using data::Command;
using data::Outcome;

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int put(const Outcome& outcome) {
  write_all(STDERR_FILENO, outcome.err);
  if (write_all(STDOUT_FILENO, outcome.out)) return outcome.code;
  if (errno == EPIPE) {  // Its reader has had enough: no error, and as all programs end then.
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  write_all(STDERR_FILENO, "oomplan: cannot write to standard output: " + std::string(std::strerror(errno)) + "\n");
  return 3;
}

Outcome failed(Diagnostic error, int argc, char** argv) {
  const bool json = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
  return data::outcome_of("oomplan/data/1", nlohmann::ordered_json::object(), "", json, {std::move(error)});
}

Diagnostic out_of_memory() {
  if (data::heap_was_refused())
    return {.code = "measure/over-budget",
            .message = "reading this needs more than the budget leaves",
            .hint = "a larger --budget may read it"};
  return {.code = "cli/no-memory", .message = "the system has no more memory"};
}

Outcome dispatch(int argc, char** argv) {
  Arguments program("oomplan", "Reads datasets with bounded memory.", {"Data"});
  std::vector<Command> commands;
#define OOMPLAN_ENTRY(name) commands.push_back(data::commands::name(program.parser()));
#include "registry/commands.inc"
#undef OOMPLAN_ENTRY
  const ParsedArguments parsed = program.parse(argc, argv);
  if (parsed.kind == ParsedArguments::Kind::print) return {.out = parsed.text};
  if (parsed.kind == ParsedArguments::Kind::misused)
    return failed({.code = "cli/usage", .message = parsed.text, .hint = "--help lists what there is"}, argc, argv);
  for (const Command& command : commands) {
    if (command.parser.is_asked()) return command.run();
  }
  return {};
}

}  // namespace

int run_data(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // A closed pipe ends what writes the answer, and no child of ours before.
  try {
    return put(dispatch(argc, argv));
  } catch (const std::bad_alloc&) {
    return put(failed(out_of_memory(), argc, argv));
  } catch (const std::exception& error) {
    return put(failed({.code = "cli/bug", .message = error.what()}, argc, argv));
  }
}

}  // namespace oomplan
