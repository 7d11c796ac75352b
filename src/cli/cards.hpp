// How many cards --gpu names: 8xh100, and over machines 4x8xh100.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {

struct Cards {
  std::string name{};  ///< Of one of them, as the catalog takes it.
  std::int64_t machines = 1;
  std::int64_t each = 0;  ///< On a machine; 0: it is not said.
  friend bool operator==(const Cards&, const Cards&) = default;
};

/// The text as a name where no number with an x stands before one.
Cards cards_of(const std::string& text);

/// What they say of the world.
NamedWorld world_of(const std::vector<std::string>& gpus);

/// "--gpu t4", where all of them are of a compute capability below 8.0; else empty.
std::string older_gpu(const std::vector<std::string>& gpus);

/// Errors, cli/usage: counts of no GPUs, or of too many; counts that differ, which would be several runs.
Diagnostics check_counts(const std::vector<std::string>& gpus);

}  // namespace oomplan::cli
