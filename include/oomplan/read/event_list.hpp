// Lists of allocation events, read a piece at a time.
//
// One event a line: "a ID BYTES" allocates, "f ID" frees, "m CODE" marks, "e" empties the cache. Plain, or packed
// with gzip or zstd, which the first bytes tell. IDs are any whole numbers; one may be used again once it is freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/estimate/events.hpp"

namespace oomplan {

/// What a list may take before it is refused.
struct EventBudget {
  std::uint32_t live = 1U << 24;  ///< Allocations at one time.
};

/// Reads one list in bounded memory: a piece of the file, and the numbers of what is allocated. Errors name the line:
/// read/bad-event     a line that is no event, or a size or id out of range
/// read/still-live    an allocation under an id that is not freed yet
/// read/not-live      a free of an id that was never allocated, or is freed already
/// read/truncated     the file ends within a line, or within the compressed data
/// read/damaged       the compressed data is broken
/// read/empty         there is no event
/// read/too-large     more allocations at one time than the budget
/// and read/missing, read/not-a-file, read/unreadable as read_document.
class EventList {
 public:
  /// The file at `path`.
  static Result<EventList> open(const std::string& path, const EventBudget& budget = {});
  /// An open descriptor, which stays open; `name` stands in messages.
  static EventList from_descriptor(int descriptor, const std::string& name, const EventBudget& budget = {});
  /// A list already in memory, which must outlive this.
  static EventList from_memory(std::string_view bytes, const std::string& name, const EventBudget& budget = {});

  EventList(EventList&&) noexcept;
  EventList& operator=(EventList&&) noexcept;
  ~EventList();

  /// Puts the next events into `out`, whatever it held, some ten thousand at a time; none at the end. After an error
  /// there is nothing more to read.
  Diagnostics next(std::vector<Event>& out);

  /// Lines before those of the latest next(): event i of it stands in line lines_before() + i + 1.
  std::int64_t lines_before() const;

 private:
  struct State;
  explicit EventList(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace oomplan
