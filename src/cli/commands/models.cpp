#include <memory>
#include <string>

#include "../command.hpp"
#include "../errors.hpp"
#include "../options.hpp"

namespace oomplan::cli {
namespace {

Outcome list_models(const Catalog& catalog) {
  Outcome outcome;
  for (const std::string& name : known_models(catalog)) outcome.out += name + "\n";
  return outcome;
}

}  // namespace

Command commands::models(const ArgumentParser& program) {
  const ArgumentParser app =
      program.command("models", "List the models known by hub id; any config.json of a known family works too");
  auto directory = std::make_shared<std::string>();
  add_models_option(app, *directory);
  return {app, [directory](const Terminal&) {
            const Result<Catalog> catalog = catalog_in(*directory);
            return catalog ? list_models(*catalog) : outcome_of(collect(failed(catalog.errors())), "text", {});
          }};
}

}  // namespace oomplan::cli
