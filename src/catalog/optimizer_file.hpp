// models/optimizers/<name>.yaml
#pragma once

#include "files.hpp"
#include "oomplan/catalog/optimizer.hpp"

namespace oomplan::catalog {

Result<OptimizerFile> read_optimizer(const DataFile& file);

}  // namespace oomplan::catalog
