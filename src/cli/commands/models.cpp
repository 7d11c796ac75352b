#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <vector>

#include "../command.hpp"
#include "../errors.hpp"
#include "../options.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  std::string part{};
  std::string models{};
  bool families = false;
};

void add_options(const ArgumentParser& app, Options& options) {
  app.option("PART", options.part, "Only those with this in the id (llama)");
  app.flag("--families", options.families,
           "List the families that are played, by model_type, with the share of their features");
  add_models_option(app, options.models);
}

Outcome refused(const Diagnostics& errors) { return outcome_of(collect(failed(errors)), "text", {}); }

/// A list that is empty leaves nothing undecided.
Outcome unknown(const Diagnostics& errors) {
  Outcome out{.code = ExitCode::usage};
  for (const Diagnostic& error : errors) out.err += to_text(error);
  return out;
}

Outcome families(const std::string& part, const Catalog& catalog) {
  Outcome outcome;
  for (const Family& family : known_families(catalog)) {
    if (family.model_type.find(part) == std::string::npos) continue;
    const std::size_t played = static_cast<std::size_t>(family.features) - family.not_modelled.size();
    const std::string left = fmt::format("{}", fmt::join(family.not_modelled, ", "));
    outcome.out += fmt::format("{:22} {} of {}{}\n", family.model_type, played, family.features,
                               left.empty() ? "" : "   not " + left);
  }
  return outcome;
}

Outcome list_models(const Options& options, const Terminal& /*terminal*/) {
  const Result<Catalog> catalog = catalog_in(options.models);
  if (!catalog) return refused(catalog.errors());
  if (options.families) return families(options.part, *catalog);
  const Result<std::vector<std::string>> models = known_models_like(options.part, *catalog);
  if (!models) return unknown(models.errors());
  Outcome outcome;
  for (const std::string& id : *models) outcome.out += id + "\n";
  return outcome;
}

}  // namespace

Command commands::models(const ArgumentParser& program) {
  return command_with(
      program.command("models", "List the models known by hub id; any config.json of a known family works too")
          .in("Plan")
          .examples({"oomplan models llama-3", "oomplan models --families"}),
      add_options, list_models);
}

}  // namespace oomplan::cli
