#include <fmt/format.h>

#include "../command.hpp"
#include "oomplan/catalog.hpp"
#include "oomplan/text.hpp"

namespace oomplan::cli {
namespace {

Outcome run_gpus() {
  Outcome outcome;
  for (const Gpu& gpu : known_gpus()) {
    outcome.out += fmt::format("{:<22} {:>11}  {}\n", gpu.name, to_text(gpu.total), gpu.title);
  }
  return outcome;
}

}  // namespace

Command commands::gpus(CLI::App& program) {
  return {program.add_subcommand("gpus", "List the GPUs known by name, with the memory that CUDA reports"),
          [](const Terminal&) { return run_gpus(); }};
}

}  // namespace oomplan::cli
