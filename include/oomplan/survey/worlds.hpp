// How many GPUs a model needs that is shared among them, where nobody says how many there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

/// A number of GPUs in one machine.
struct WorldPoint {
  std::int64_t gpus = 0;
  Bytes needed{};  ///< As in Fit, of the kind of rank that needs most.
  bool at_least = false;
  bool fits = false;
};

struct Worlds {
  std::string gpu{};    ///< Its name as --gpu takes it.
  std::string title{};  ///< As reports call it.
  std::vector<WorldPoint> points{};
};

}  // namespace oomplan
