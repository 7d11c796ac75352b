// The hardware that a run is planned for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

/// How fast its maker says that a GPU is.
struct GpuSpeed {
  double operations = 0;  ///< Of its matrix units in 16 bits, dense, in 10^12 a second.
  double link = 0;        ///< With the other GPUs of its machine, in one direction, in GB/s (10^9 bytes).
  std::string source{};
};

/// A GPU as CUDA reports it.
struct Gpu {
  std::string name{};                ///< "rtx-4090", the file in models/gpus; "24 GiB" where only a size was given.
  std::string title{};               ///< "NVIDIA GeForce RTX 4090".
  std::string compute_capability{};  ///< "8.9"; empty where CUDA has none.
  std::int64_t nominal_gb = 0;       ///< What is printed on the box, in GB; 0 where nobody says.
  Bytes total{};                     ///< "total capacity" in PyTorch's message, the lowest seen where drivers differ.
  Bytes context{};                   ///< The CUDA context and kernels loaded beside PyTorch's allocator.
  Bytes cublas_workspace{};          ///< One cuBLAS workspace (torch: CublasHandlePool, by compute capability).
  std::string total_source{};        ///< Where the figure comes from.
  bool total_assumed = false;        ///< No figure of the card itself was found; `total_source` says what was taken.
  std::string apart{};               ///< Why nobody is told to get it ("a slice of an A100"); else empty.
  std::string context_source{};
  std::optional<GpuSpeed> speed{};
  std::vector<std::string> aliases{};  ///< Other spellings ("4090", "geforce rtx 4090").
};

}  // namespace oomplan
