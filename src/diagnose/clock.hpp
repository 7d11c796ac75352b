// When a line was written, as far as what stands before it can be compared between files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

struct Clock {
  /// Only times of one kind can be compared: a date with its year, one without, seconds since the machine started.
  enum class Kind : std::uint8_t { date, yearless, uptime };
  Kind kind = Kind::date;
  double seconds = 0;
};

/// Of a printed time: "2024-05-01T10:00:02.5Z" (zones count where they are printed), "2024/05/01 10:00:02", "Nov 29
/// 01:00:04", "0501 10:00:01.1", "7063.25"; none for a clock without a date.
std::optional<Clock> clock_of(std::string_view printed);

/// Of each line, its own or the last one before it in the same file.
std::vector<std::optional<Clock>> clocks_of(const std::vector<Line>& lines);

/// Whether `a` is known to be earlier.
bool is_earlier(const std::optional<Clock>& a, const std::optional<Clock>& b);

/// Those of all lines, read once somebody asks. `lines` must outlive it.
class Clocks {
 public:
  explicit Clocks(const std::vector<Line>& lines) : lines_(lines) {}

  /// Whether line `a` is known to be earlier than line `b`.
  bool is_earlier(std::size_t a, std::size_t b) const;

 private:
  const std::vector<Line>& lines_;
  mutable std::vector<std::optional<Clock>> clocks_{};
};

/// The rank in the name of a log: "rank3.log", "worker_rank-12.err", torchrun's "attempt_0/3/stderr.log"; none where it
/// says nothing of ranks.
std::optional<std::int64_t> rank_in(std::string_view file);

}  // namespace oomplan::diagnose
