// What held a GPU's memory, by a memory snapshot. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace oomplan {

/// What one category or one source line holds.
struct Holding {
  std::string name{};  ///< "weights", or "model.py:104 forward".
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::vector<std::string> stack{};  ///< Of a line: its frames, the innermost first, of its largest stack.
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// A line that holds more after each step than before.
struct Growth {
  Holding held{};               ///< At the end, of what the trace allocated.
  std::int64_t grown = 0;       ///< Bytes more than after the second step.
  std::int64_t steps = 0;       ///< Since then.
  std::int64_t steps_grew = 0;  ///< Of them, how many left more than they found.
};

/// One device of one snapshot.
struct MemoryAccount {
  std::string file{};
  std::int64_t device = 0;
  std::int64_t events = 0;                  ///< Of the trace.
  std::optional<std::int64_t> requested{};  ///< What the failed allocation asked for; none where none failed.
  std::int64_t device_free = 0;             ///< What the device had free then.
  std::uint32_t failed_stack = 0;
  bool stacks = false;        ///< Whether any of the trace's allocations has one.
  bool went_on = false;       ///< It failed, and yet the run allocated for long after.
  std::int64_t reserved = 0;  ///< When the snapshot was written, as the next five.
  std::int64_t active = 0;    ///< In use, or freed and still used by another stream.
  std::int64_t split = 0;     ///< Free in segments that are in use in part, and so held fast.
  std::int64_t splits = 0;    ///< In how many pieces.
  std::int64_t largest_split = 0;
  std::int64_t segments = 0;
  std::int64_t held = 0;  ///< In use at the failure, where one is in the trace; else when the snapshot was written.
  std::vector<Holding> categories{};  ///< Of `held`, the largest first.
  std::vector<Holding> lines{};       ///< The ten largest.
  std::int64_t steps = 0;             ///< Backward passes that the trace saw.
  std::vector<Growth> growth{};       ///< The five that grew most.
};

}  // namespace oomplan
