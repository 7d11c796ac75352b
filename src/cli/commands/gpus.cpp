#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../command.hpp"
#include "../errors.hpp"
#include "../options.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  std::string part{};
  std::string models{};
};

void add_options(const ArgumentParser& app, Options& options) {
  app.option("PART", options.part, "Only those of this many GB (80), else with this in the name (4090)");
  add_models_option(app, options.models);
}

std::string line_of(const Gpu& gpu, std::size_t width) {
  const std::string box = gpu.nominal_gb > 0 ? fmt::format("{} GB", gpu.nominal_gb) : "";
  const std::string apart = gpu.apart.empty() ? "" : ", " + gpu.apart;
  return fmt::format("{:<{}}  {:>6}  {:>10}{} {}{}\n", printable(gpu.name), width, box, to_text(gpu.total),
                     gpu.total_assumed ? "*" : " ", printable(gpu.title), printable(apart));
}

Outcome refused(const Diagnostics& errors) { return outcome_of(collect(failed(errors)), "text", {}); }

Outcome list_gpus(const Options& options, const Terminal& /*terminal*/) {
  const Result<Catalog> catalog = catalog_in(options.models);
  if (!catalog) return refused(catalog.errors());
  const Result<std::vector<Gpu>> gpus =
      options.part.empty() ? known_gpus(*catalog) : known_gpus_like(options.part, *catalog);
  if (!gpus) return refused(gpus.errors());
  std::size_t width = 0;
  for (const Gpu& gpu : *gpus) width = std::max(width, gpu.name.size());
  Outcome outcome;
  for (const Gpu& gpu : *gpus) outcome.out += line_of(gpu, width);
  if (std::ranges::any_of(*gpus, &Gpu::total_assumed))
    outcome.out += "* worked out: no figure of the card itself under Linux was found\n";
  return outcome;
}

}  // namespace

Command commands::gpus(const ArgumentParser& program) {
  return command_with(program.command("gpus", "List the known GPUs, with the memory that CUDA reports")
                          .in("Plan")
                          .examples({"oomplan gpus 24", "oomplan gpus rtx-40"}),
                      add_options, list_gpus);
}

}  // namespace oomplan::cli
