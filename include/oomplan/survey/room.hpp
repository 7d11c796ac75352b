// How far the micro-batch can grow on a card, or has to shrink.
#pragma once

#include <cstdint>
#include <string>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

struct Room {
  std::string key{};     ///< The micro-batch, as the config has it.
  std::int64_t now = 0;  ///< Its value.
  std::int64_t largest =
      0;           ///< The largest that fits: one more does not, by its tensors or by a replay. 0: not even 1.
  Bytes needed{};  ///< With the largest, as in Fit.
};

}  // namespace oomplan
