#include "rising_cards.hpp"

#include <utility>

namespace oomplan::estimator {

RisingCards::Start RisingCards::start_for(Bytes room) {
  if (start_ && start_->room == room) return *std::exchange(start_, std::nullopt);
  return {room, 0, Allocator(settings_, tried_card(room, order_))};
}

bool RisingCards::ends_in(Bytes room, Bytes next) {
  Start start = start_for(room);
  if (!start.allocator) return false;
  Allocator& allocator = *start.allocator;
  allocator.watch(next);
  Start then{next};
  for (std::size_t at = start.at; at < events_.size(); ++at) {
    const bool ended = allocator.play(events_[at]);
    if (!then.allocator && events_[at].kind == Event::Kind::allocate && (then.allocator = allocator.on_larger())) {
      then.at = at;
    }
    if (ended) continue;
    if (then.allocator || allocator.is_watching()) start_ = std::move(then);
    return false;
  }
  if (allocator.is_watching()) then = {next, events_.size(), std::move(allocator)};
  if (then.allocator) start_ = std::move(then);
  return true;
}

}  // namespace oomplan::estimator
