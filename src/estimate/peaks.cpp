#include "peaks.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

constexpr std::size_t together = bucket_count;

}  // namespace

Peaks::Peaks(const Timeline& timeline) : timeline_(timeline) {
  const auto count = static_cast<std::int32_t>(timeline.stretches().size());
  Levels levels{};
  passed_.reserve(timeline.stretches().size() + 1);
  for (std::int32_t s = 0; s < count; ++s) {
    enter_phases(s, timeline.at(s).first, levels[together]);
    cross(s, levels);
  }
  enter_phases(count, static_cast<std::int32_t>(timeline.recorder().events.size()), levels[together]);
  passed_.push_back({levels, {}});
}

ByBucket Peaks::at(const Moment& moment) const {
  const Passed& passed = passed_[static_cast<std::size_t>(moment.stretch)];
  ByBucket out{};
  for (std::size_t b = 0; b < bucket_count; ++b) out[b] = Bytes(passed.before[b] + moment.turn * passed.net[b]);
  if (moment.stretch + 1 == std::ssize(passed_)) return out;
  const Recorder& r = timeline_.recorder();
  for (std::int32_t i = timeline_.at(moment.stretch).first; i <= moment.event; ++i) {
    const Event& e = r.events[static_cast<std::size_t>(i)];
    const Storage& s = r.at(e.storage);
    if (s.bucket == Bucket::runtime) continue;
    oomplan::at(out, s.bucket) += Bytes(e.allocates ? s.bytes : -s.bytes);
  }
  return out;
}

Peaks::Swing Peaks::swing(const Stretch& stretch) const {
  const Recorder& r = timeline_.recorder();
  Swing out;
  for (std::int32_t i = stretch.first; i < stretch.end; ++i) {
    const Event& e = r.events[static_cast<std::size_t>(i)];
    const Storage& s = r.at(e.storage);
    if (s.bucket == Bucket::runtime) continue;  // Of no moment: gone before the next tensor is made.
    for (const std::size_t slot : {static_cast<std::size_t>(s.bucket), together}) {
      if (slot == together && s.bucket == Bucket::paged) continue;
      out.net[slot] += e.allocates ? s.bytes : -s.bytes;
      if (out.net[slot] <= out.highest[slot]) continue;
      out.highest[slot] = out.net[slot];
      out.where[slot] = i;
    }
  }
  return out;
}

/// A phase begins with what the one before leaves alive.
void Peaks::enter_phases(std::int32_t stretch, std::int32_t event, std::int64_t level) {
  const std::vector<Mark>& marks = timeline_.recorder().marks;
  for (; next_mark_ < marks.size() && marks[next_mark_].first <= event; ++next_mark_) {
    reach({marks[next_mark_].phase, marks[next_mark_].step, level, {stretch, event - 1, 0}});
  }
}

/// Of a stretch that is repeated the first turn is the highest, or the last where each leaves more than it found.
void Peaks::cross(std::int32_t stretch, Levels& levels) {
  const Swing s = swing(timeline_.at(stretch));
  const std::int64_t times = timeline_.times(stretch);
  const Mark& mark = timeline_.recorder().marks[next_mark_ - 1];
  passed_.push_back({levels, s.net});
  for (std::size_t slot = 0; slot <= together; ++slot) {
    const std::int64_t turn = s.net[slot] > 0 ? times - 1 : 0;
    const std::int64_t bytes = levels[slot] + turn * s.net[slot] + s.highest[slot];
    levels[slot] += times * s.net[slot];
    if (s.highest[slot] == 0) continue;
    const Peak peak{mark.phase, mark.step, bytes, {stretch, s.where[slot], turn}};
    if (slot == together) {
      reach(peak);
    } else if (bytes > buckets_[slot].bytes) {
      buckets_[slot] = peak;
    }
  }
}

/// A moment that may be its phase's highest.
void Peaks::reach(const Peak& peak) {
  const auto same = [&](const Peak& p) { return p.phase == peak.phase && p.step == peak.step; };
  const auto at = std::find_if(phases_.begin(), phases_.end(), same);
  if (at == phases_.end()) {
    phases_.push_back(peak);
  } else if (peak.bytes > at->bytes) {
    *at = peak;
  }
}

}  // namespace oomplan::estimator
