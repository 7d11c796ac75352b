// How a budget for the whole process is divided.
#pragma once

#include <cstdint>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan::measure {

/// Bytes, all of them. Only one thing at a time grows to its share: a long row, a page, a table.
struct Room {
  std::int64_t budget = 0;
  std::int64_t free = 0;    ///< What the program itself and its libraries leave of the budget.
  std::int64_t batch = 0;   ///< Decoded bytes of rows that are handed on together.
  std::int64_t row = 0;     ///< The longest row of text that is held.
  std::int64_t pool = 0;    ///< What Arrow may hold at one time.
  std::int64_t table = 0;   ///< Hashes of rows, in memory.
  std::int64_t schema = 0;  ///< What the names and types of columns take, with what each column is read by.
  int zstd_window_log = 0;
};

/// Divides what this process does not hold yet. From then on malloc gives back what is freed, so that freed memory is
/// no part of the peak. Error: measure/small-budget.
Result<Room> room_within(Bytes budget);

/// Of what is free, for each of several threads that read.
inline constexpr std::int64_t least_of_thread = std::int64_t{24} << 20;

/// The shares of `free` bytes.
Room room_from(std::int64_t budget, std::int64_t free);
/// For reading while the table is full. All readings of the same rows take it, so that the same rows are too long.
Room beside_table(const Room& room);
/// The same for what is taken beside what this process holds now, in a program that is not ours: malloc stays as it is.
/// One of `parts` equal parts of the budget is for reading, the others are the caller's. Error: measure/small-budget.
Result<Room> room_beside(Bytes budget, std::int64_t parts);

/// The row, page or batch at `where` needs `needed` bytes of the `room` there is.
Diagnostic over_budget(Location where, const std::string& what, std::int64_t needed, std::int64_t room);

}  // namespace oomplan::measure
