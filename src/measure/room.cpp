#include "room.hpp"

#include <malloc.h>

#include <algorithm>
#include <bit>

#include "oomplan/core/text.hpp"
#include "process.hpp"

namespace oomplan::measure {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;
// Pages of the libraries that are touched only once rows are read, stacks, and what malloc holds beside the rows.
constexpr std::int64_t later = 18 * mib;
constexpr std::int64_t least_free = 8 * mib;
// By how much two starts of one program differ in what they hold: which pages of the libraries the kernel maps beside
// those that are touched. What is named as the least has to be enough next time.
constexpr std::int64_t varies = 2 * mib;

// What is freed and larger than this goes back to the kernel and is no part of the peak; what is smaller is kept, as a
// page that is taken anew costs as much time as decoding it does, up to a quarter of what is free: at the end of one
// arena or two, as many as there are threads for.
void keep_heap_small(std::int64_t free) {
  const std::int64_t arenas = free < 2 * least_of_thread ? 1 : 2;
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(std::clamp(free / 16, mib, 16 * mib)));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(std::clamp(free / 4 / arenas, mib, 64 * mib)));
  mallopt(M_ARENA_MAX, 2);
}

/// Of one of `parts` parts of the budget, `base` is not for rows, and `more` of it may be at the next start.
Result<Room> divided(Bytes budget, std::int64_t parts, std::int64_t base, std::int64_t more) {
  const std::int64_t free = budget.count() / parts - base;
  if (free < least_free) {
    return Diagnostic{.code = "measure/small-budget",
                      .message = "a budget of " + to_text(budget) + " is too small",
                      .hint = "the least is " + to_text(Bytes(base + least_free + more).rounded_up(mib) * parts) +
                              ": the program itself takes most of that"};
  }
  return room_from(budget.count(), free);
}

}  // namespace

Room room_from(std::int64_t budget, std::int64_t free) {
  Room room{.budget = budget, .free = free};
  room.batch = std::clamp(free / 24, mib / 4, 2 * mib);
  room.row = free / 5;
  room.pool = free * 3 / 4;
  room.schema = free / 3;
  room.table = std::max((free - 16 * mib) * 5 / 8, mib);
  room.zstd_window_log =
      static_cast<int>(std::min<std::size_t>(std::bit_width(static_cast<std::uint64_t>(free / 3)) - 1, 31));
  return room;
}

Result<Room> room_within(Bytes budget) {
  Result<Room> room = divided(budget, 1, memory_of_this_process().rss + later, varies);
  if (room) keep_heap_small(room->free);
  return room;
}

Room beside_table(const Room& room) {
  const Room out = room_from(room.budget, room.free - room.table);
  keep_heap_small(out.free);
  return out;
}

Result<Room> room_beside(Bytes budget, std::int64_t parts) { return divided(budget, parts, later, 0); }

Diagnostic over_budget(Location where, const std::string& what, std::int64_t needed, std::int64_t room) {
  return {
      .code = "measure/over-budget",
      .message = what + " needs " + to_text(Bytes(needed)) + " at once, and the budget leaves " + to_text(Bytes(room)),
      .where = std::move(where),
      .hint = "a larger --budget reads it"};
}

}  // namespace oomplan::measure
