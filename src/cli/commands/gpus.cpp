#include <fmt/format.h>

#include <memory>
#include <string>

#include "../command.hpp"
#include "../errors.hpp"
#include "../options.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

Outcome list_gpus(const Catalog& catalog) {
  Outcome outcome;
  for (const Gpu& gpu : known_gpus(catalog)) {
    outcome.out += fmt::format("{:<22} {:>11}  {}\n", gpu.name, to_text(gpu.total), gpu.title);
  }
  return outcome;
}

}  // namespace

Command commands::gpus(const ArgumentParser& program) {
  const ArgumentParser app = program.command("gpus", "List the known GPUs, with the memory that CUDA reports");
  auto directory = std::make_shared<std::string>();
  add_models_option(app, *directory);
  return {app, [directory](const Terminal&) {
            const Result<Catalog> catalog = catalog_in(*directory);
            return catalog ? list_gpus(*catalog) : outcome_of(collect(failed(catalog.errors())), "text", {});
          }};
}

}  // namespace oomplan::cli
