#include "../command.hpp"
#include "oomplan/catalog.hpp"

namespace oomplan::cli {
namespace {

Outcome run_models() {
  Outcome outcome;
  for (const std::string& name : known_models()) outcome.out += name + "\n";
  return outcome;
}

}  // namespace

Command commands::models(CLI::App& program) {
  return {
      program.add_subcommand("models", "List the models known by hub id; any config.json of a known family does too"),
      [](const Terminal&) { return run_models(); }};
}

}  // namespace oomplan::cli
