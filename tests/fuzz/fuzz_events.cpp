// Event lists, plain and packed: read or refused with a place, and what is read can be played.
#include <cstdint>
#include <string_view>
#include <vector>

#include "oomplan/estimate/allocator.hpp"
#include "oomplan/read/event_list.hpp"
#include "require.hpp"

namespace oomplan::fuzz {
namespace {

void check_refusal(const Diagnostics& errors) {
  require(errors.size() == 1, "a refusal says one thing");
  const Diagnostic& error = errors.front();
  require(error.code.starts_with("read/") && !error.message.empty(), "a refusal says why");
  require(error.where.line >= 0 && error.where.column >= 0, "a refusal points into the text");
  for (const char c : to_text(error)) {
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "nothing drives a terminal");
  }
}

void check_played(const Allocator& allocator) {
  const AllocatorStatistics& s = allocator.statistics();
  require(s.allocated >= Bytes() && s.fragmented >= Bytes(), "nothing is below zero");
  require(s.allocated + s.fragmented <= s.reserved, "what is allocated is reserved");
  require(s.reserved <= Bytes::gib(1), "what is reserved is on the card");
}

void check(std::string_view bytes) {
  constexpr std::uint32_t most = 64;
  EventList list = EventList::from_memory(bytes, "fuzz", {.live = most});
  AllocatorSettings expandable;
  expandable.expandable_segments = true;
  Allocator players[] = {Allocator({}, {.total = Bytes::gib(1)}), Allocator(expandable, {.total = Bytes::gib(1)})};
  std::vector<Event> piece;
  do {
    const Diagnostics errors = list.next(piece);
    if (!errors.empty()) return check_refusal(errors);
    for (const Event& event : piece) {
      require(event.slot < most, "slots are dense");
      for (Allocator& player : players) player.play(event);
    }
    for (const Allocator& player : players) check_played(player);
  } while (!piece.empty());
}

}  // namespace
}  // namespace oomplan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  oomplan::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
