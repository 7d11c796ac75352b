// What a training step asks of the memory allocator, one event after the other.
#pragma once

#include <cstdint>

namespace oomplan {

/// One event. `slot` names the allocation: a small number that is free again once the allocation is freed, so that a
/// player may keep an array by it. `value` is the bytes asked for, or a mark's code; 0 otherwise.
struct Event {
  enum class Kind : std::uint8_t { allocate, free, empty_cache, mark };

  Kind kind = Kind::mark;
  std::uint32_t slot = 0;
  std::int64_t value = 0;

  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace oomplan
