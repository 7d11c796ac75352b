#include "lifetimes.hpp"

#include <algorithm>

namespace oomplan::estimator {

/// The units in whose turn of the stretch the event is over.
Lifetimes::Range Lifetimes::passed(const Moment& now, const Place& place) const {
  const std::int64_t times = timeline_.times(place.stretch);
  std::int64_t turns = 0;
  if (place.stretch < now.stretch) turns = times;
  if (place.stretch == now.stretch) turns = now.turn + (place.event <= now.event ? 1 : 0);
  return times == 1 || timeline_.ascending(place.stretch) ? Range{0, turns} : Range{times - turns, times};
}

/// A neighbour frees what the middle unit allocated: so does each of the repeated units with the one beside it, and
/// the neighbour itself only with the outermost.
Lifetimes::Range Lifetimes::freed_by_neighbour(const Moment& now, const Storage& storage, const Place& death) const {
  const int middle = timeline_.unit_of(storage);
  const std::int64_t times = timeline_.repetition().times(middle);
  const Stretch& own = timeline_.at(death.stretch);
  const int step = own.unit - middle;
  const bool after = death.stretch > 0 && timeline_.at(death.stretch - 1).unit == middle;
  const std::int32_t twin = after ? death.stretch - 1 : death.stretch + 1;
  const Range by = passed(now, {twin, timeline_.at(twin).first + (death.event - own.first)});
  Range freed{std::max<std::int64_t>(by.first - step, 0), std::min(by.end - step, times)};
  if (passed(now, death).empty()) return freed;
  (step > 0 ? freed.end : freed.first) = step > 0 ? times : 0;
  return freed;
}

Lifetimes::Range Lifetimes::dead(const Moment& now, const Storage& storage, const Place& death) const {
  if (death.stretch < 0) return {};
  const bool repeated = times(storage) > 1;
  if (repeated && !timeline_.repeated(death.stretch)) return freed_by_neighbour(now, storage, death);
  const Range by = passed(now, death);
  if (repeated || !timeline_.repeated(death.stretch)) return by;
  const bool later = timeline_.unit_of(storage) > timeline_.at(death.stretch).unit;
  const std::int64_t freer = later ? timeline_.times(death.stretch) - 1 : 0;
  return {0, by.holds(freer) ? 1 : 0};
}

Live Lifetimes::live(StorageId id, const Range& alive) const {
  const int owner = timeline_.recorder().at(id).layer;
  if (owner < 0) return {id, 1, -1, -1};
  const Repetition& r = timeline_.repetition();
  return {id, alive.end - alive.first, static_cast<int>(r.number(owner, alive.first)),
          static_cast<int>(r.number(owner, alive.end - 1))};
}

std::vector<Live> Lifetimes::alive_at(const Moment& now) const {
  std::vector<Live> out;
  const std::vector<Storage>& storages = timeline_.recorder().storages;
  // Storages stand in the order of their births, but for adapters, which come last in loading.
  const auto later = [&](std::size_t i) { return births_[i].stretch > now.stretch && storages[i].born != Phase::load; };
  for (std::size_t i = 0; i < storages.size() && !later(i); ++i) {
    const Place& death = deaths_[i];
    if (death.stretch >= 0 && death.stretch + 1 < now.stretch) continue;  // Its twin, if any, is over as well.
    Range alive = passed(now, births_[i]);
    const Range gone = dead(now, storages[i], death);
    if (!gone.empty()) (gone.first == 0 ? alive.first : alive.end) = gone.first == 0 ? gone.end : gone.first;
    if (!alive.empty()) out.push_back(live(static_cast<StorageId>(i), alive));
  }
  return out;
}

std::vector<Live> Lifetimes::ever_alive() const {
  std::vector<Live> out;
  for (std::size_t i = 0; i < births_.size(); ++i) {
    if (births_[i].stretch < 0) continue;
    out.push_back(live(static_cast<StorageId>(i), {0, timeline_.times(births_[i].stretch)}));
  }
  return out;
}

}  // namespace oomplan::estimator
