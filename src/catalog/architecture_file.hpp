// One file of models/architectures, filled with the sizes of one config.json.
#pragma once

#include <string>
#include <vector>

#include "files.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::catalog {

/// The file that plays `model_type`: the one of that name, else the one that lists it under model_types; or an error
/// at config's model_type.
Result<DataFile> architecture_file(const Document& config, const Catalog& catalog);

/// What the file plays: its name, and what it lists under model_types.
std::vector<std::string> model_types_of(const DataFile& file);

/// One for each of the file's model types.
std::vector<Family> families_of(const DataFile& file);

/// `source` is left to the caller.
Result<Architecture> read_architecture(const Document& config, const DataFile& file, const Catalog& catalog);

}  // namespace oomplan::catalog
