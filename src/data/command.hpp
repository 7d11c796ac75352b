// A subcommand. Each file in commands/ defines the one that it is named after.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "outcome.hpp"

namespace oomplan::data {

struct Command {
  const CLI::App* syntax = nullptr;
  std::function<Outcome()> run{};
};

namespace commands {
#define OOMPLAN_ENTRY(name) Command name(CLI::App& program);
#include "registry/commands.inc"
#undef OOMPLAN_ENTRY
}  // namespace commands

}  // namespace oomplan::data
