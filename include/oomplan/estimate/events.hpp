// What a training step asks of the memory allocator, one event after the other.
#pragma once

#include <cstdint>

namespace oomplan {

/// One event. `slot` names the allocation: a small number that is free again once the allocation is freed, so that a
/// player may keep an array by it. `value` is the bytes asked for, a mark's code, or what `times` or `stream` says; 0
/// otherwise. `times`: what the next event allocates is allocated so often, one after the other, all under its slot,
/// and freed together. `stream`: the next event allocates while that stream is current; where none is named, stream 0
/// is. There are few of them.
struct Event {
  enum class Kind : std::uint8_t { allocate, free, empty_cache, mark, times, stream };

  Kind kind = Kind::mark;
  std::uint32_t slot = 0;
  std::int64_t value = 0;

  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace oomplan
