#include "models_option.hpp"

namespace oomplan::cli {

void add_models_option(const ArgumentParser& app, std::string& directory) {
  app.option("--models", directory, "A directory of your own GPUs, presets and architectures").type_name("DIR");
}

Result<Catalog> catalog_in(const std::string& directory) {
  return directory.empty() ? Result<Catalog>(Catalog{}) : read_models(directory);
}

}  // namespace oomplan::cli
