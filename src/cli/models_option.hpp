// The option --models, which several commands take.
#pragma once

#include <string>

#include "oomplan/arguments/arguments.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan::cli {

void add_models_option(const ArgumentParser& app, std::string& directory);

/// The user's own data files; none without a directory.
Result<Catalog> catalog_in(const std::string& directory);

}  // namespace oomplan::cli
