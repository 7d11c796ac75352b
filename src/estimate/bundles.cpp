#include "bundles.hpp"

#include <algorithm>
#include <cstdlib>

namespace oomplan::estimator {
namespace {

// Up to here each is played: bundles of what is larger than 1 MiB lie otherwise than turns one after the other, and
// loops over chunks, which have such, are short.
constexpr std::int64_t few_turns = 64;
constexpr std::int64_t fewest = 16;
// Of turns, which a replay takes so many of; in a small model a segment that lies otherwise is more of the whole.
constexpr std::int64_t most_events = 250'000;

/// The events of one turn of each loop, as often as it is run.
std::int64_t events_of_a_turn(const Timeline& timeline) {
  std::int64_t sum = 0;
  for (const Stretch& s : timeline.stretches()) {
    const bool of_loop = s.unit >= 0 && timeline.repetition().unit(s.unit).of_loop;
    if (of_loop && timeline.repetition().repeats(s.unit)) sum += s.end - s.first;
  }
  return std::max<std::int64_t>(sum, 1);
}

}  // namespace

Bundles::Bundles(const Timeline& timeline, bool wanted) : timeline_(timeline) {
  if (!wanted) return;
  enough_ = std::max(most_events / events_of_a_turn(timeline), fewest);
  const auto is_long = [&](const Unit& u) { return u.of_loop && played_of(u.times) < u.times; };
  if (std::ranges::none_of(timeline.repetition().units(), is_long)) return;
  stops_.resize(timeline.stretches().size());
  const std::vector<Place> births = timeline.births();
  const std::vector<Place> deaths = timeline.deaths();
  for (std::size_t i = 0; i < births.size(); ++i) {
    if (births[i].stretch >= 0) add(static_cast<StorageId>(i), births[i], deaths[i]);
  }
  for (std::int32_t s = 0; s < std::ssize(stops_); ++s) set_growth(s);
}

std::int64_t Bundles::played_of(std::int64_t turns) const {
  return turns > std::max(few_turns, enough_) ? enough_ : turns;
}

std::int64_t Bundles::played(int unit) const {
  const std::int64_t times = timeline_.repetition().times(unit);
  const bool some = !stops_.empty() && unit >= 0 && timeline_.repetition().unit(unit).of_loop;
  return some ? played_of(times) : times;
}

std::int64_t Bundles::beside(int unit, std::int64_t turn) const {
  const std::int64_t turns = played(unit);
  const std::int64_t others = timeline_.repetition().times(unit) - turns;
  return others / turns + (turn < others % turns ? 1 : 0);
}

void Bundles::add(StorageId id, const Place& birth, const Place& death) {
  const Storage& storage = timeline_.recorder().at(id);
  const int unit = timeline_.unit_of(storage);
  if (!hold(unit) || storage.bytes == 0 || storage.bucket == Bucket::paged) return;
  // What a turn or the next one frees again is there but once at a time.
  if (death.stretch >= 0 && std::abs(death.stretch - birth.stretch) <= 1) return;
  stops_[static_cast<std::size_t>(birth.stretch)].made.push_back(id);
  if (death.stretch >= 0) stops_[static_cast<std::size_t>(freed_at(unit, death))].freed.push_back(id);
}

/// The stretch of the middle turn in which all but the outermost are freed: where its neighbour frees its own, each
/// turn frees that of the one beside it.
std::int32_t Bundles::freed_at(int unit, const Place& death) const {
  if (timeline_.at(death.stretch).unit == unit) return death.stretch;
  const bool after = death.stretch > 0 && timeline_.at(death.stretch - 1).unit == unit;
  return after ? death.stretch - 1 : death.stretch + 1;
}

void Bundles::set_growth(std::int32_t stretch) {
  Stop& stop = stops_[static_cast<std::size_t>(stretch)];
  const auto bytes = [&](const std::vector<StorageId>& ids) {
    std::int64_t sum = 0;
    for (const StorageId id : ids) sum += timeline_.recorder().at(id).bytes;
    return sum;
  };
  stop.grows = bytes(stop.made) > bytes(stop.freed);
}

}  // namespace oomplan::estimator
