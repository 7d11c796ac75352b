// One line of an event list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "oomplan/estimate/events.hpp"

namespace oomplan::read {

/// A line as it stands, the id not yet a slot.
struct EventLine {
  Event::Kind kind = Event::Kind::mark;
  std::int64_t id = 0;
  std::int64_t value = 0;
};

/// Why a line is no event, and where; `column` counts from 1.
struct BadEvent {
  std::size_t column = 1;
  std::string message{};
};

/// PyTorch refuses an allocation of 1 EiB or more before it looks at any card, so no list of a run has one.
inline constexpr std::int64_t largest_event = (std::int64_t{1} << 60) - 1;

/// Reads `line` (without its end) into `out`. False where it is no event; `bad` then says why.
bool parse_event(std::string_view line, EventLine& out, BadEvent& bad);

}  // namespace oomplan::read
