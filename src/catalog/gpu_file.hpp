// One file of models/gpus as a Gpu.
#pragma once

#include "files.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/catalog/machine.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan::catalog {

/// What is beside PyTorch's allocator depends on the generation (models/generations).
struct Generation {
  std::string title{};
  Bytes context{};
  std::string context_source{};
  Bytes cublas_workspace{};
};

Result<Generation> read_generation(const DataFile& file);
Result<Gpu> read_gpu(const DataFile& file, const Catalog& catalog);

}  // namespace oomplan::catalog
