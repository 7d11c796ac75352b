// A subcommand. Each file in commands/ defines the one that it is named after.
#pragma once

#include <functional>

#include "oomplan/arguments/arguments.hpp"
#include "outcome.hpp"

namespace oomplan::data {

struct Command {
  ArgumentParser parser;
  std::function<Outcome()> run{};
};

namespace commands {
#define OOMPLAN_ENTRY(name) Command name(const ArgumentParser& program);
#include "registry/commands.inc"
#undef OOMPLAN_ENTRY
}  // namespace commands

}  // namespace oomplan::data
