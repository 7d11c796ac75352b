#include "peaks.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

constexpr std::size_t together = bucket_count;  // The slot of all buckets' sum.
using Levels = std::array<std::int64_t, bucket_count + 1>;

/// What a stretch does to the levels: how far they rise above its beginning, after which event, and where they end.
struct Swing {
  Levels net{};
  Levels highest{};
  std::array<std::int32_t, bucket_count + 1> where{};
};

Swing swing(const Recorder& r, std::int32_t first, std::int32_t end) {
  Swing out;
  for (std::int32_t i = first; i < end; ++i) {
    const Event& e = r.events[static_cast<std::size_t>(i)];
    const Storage& storage = r.at(e.storage);
    for (const std::size_t slot : {static_cast<std::size_t>(storage.bucket), together}) {
      std::int64_t& net = out.net[slot];
      net = e.allocates ? saturating_add(net, storage.bytes) : saturating_sub(net, storage.bytes);
      if (net <= out.highest[slot]) continue;
      out.highest[slot] = net;
      out.where[slot] = i;
    }
  }
  return out;
}

/// The level after `turns` whole turns of a stretch and `rise` of one more.
std::int64_t risen(std::int64_t level, std::int64_t turns, std::int64_t net, std::int64_t rise) {
  return saturating_add(level, saturating_add(saturating_mul(turns, net), rise));
}

/// Walks the run once, with the level of each bucket and of all together.
class Walk {
 public:
  explicit Walk(const Timeline& timeline) : timeline_(timeline), recorder_(timeline.recorder()) {
    const auto count = static_cast<std::int32_t>(timeline.stretches().size());
    for (std::int32_t s = 0; s < count; ++s) {
      enter_phases(s, timeline.at(s).first);
      cross(s);
    }
    enter_phases(count, static_cast<std::int32_t>(recorder_.events.size()));
    passed_.push_back({level_, {}});
    for (Peak& p : peaks.phases) p.by_bucket = by_bucket(p.moment);
    for (Peak& p : peaks.buckets) p.by_bucket = by_bucket(p.moment);
  }

  Peaks peaks{};

 private:
  void enter_phases(std::int32_t stretch, std::int32_t event) {
    for (; mark_ < recorder_.marks.size() && recorder_.marks[mark_].first <= event; ++mark_) {
      reach(recorder_.marks[mark_], level_[together], {stretch, event - 1, 0});
    }
  }

  void cross(std::int32_t stretch) {
    const Swing s = swing(recorder_, timeline_.at(stretch).first, timeline_.at(stretch).end);
    const std::int64_t times = timeline_.times(stretch);
    passed_.push_back({level_, s.net});
    for (std::size_t slot = 0; slot <= together; ++slot) {
      if (s.highest[slot] > 0) {
        const std::int64_t turn = s.net[slot] > 0 ? times - 1 : 0;
        const std::int64_t bytes = risen(level_[slot], turn, s.net[slot], s.highest[slot]);
        const Moment moment{stretch, s.where[slot], turn};
        slot == together ? reach(recorder_.marks[mark_ - 1], bytes, moment) : reach_bucket(slot, bytes, moment);
      }
      level_[slot] = risen(level_[slot], times, s.net[slot], 0);
    }
  }

  /// A moment that may be its phase's highest.
  void reach(const Mark& mark, std::int64_t bytes, const Moment& moment) {
    const auto same = [&](const Peak& p) { return p.phase == mark.phase && p.step == mark.step; };
    const auto at = std::find_if(peaks.phases.begin(), peaks.phases.end(), same);
    if (at == peaks.phases.end()) {
      peaks.phases.push_back({mark.phase, mark.step, bytes, moment, {}});
    } else if (bytes > at->bytes) {
      *at = {mark.phase, mark.step, bytes, moment, {}};
    }
  }

  void reach_bucket(std::size_t bucket, std::int64_t bytes, const Moment& moment) {
    const Mark& mark = recorder_.marks[mark_ - 1];
    if (bytes > peaks.buckets[bucket].bytes) peaks.buckets[bucket] = {mark.phase, mark.step, bytes, moment, {}};
  }

  ByBucket by_bucket(const Moment& moment) const {
    const auto& [level, net] = passed_[static_cast<std::size_t>(moment.stretch)];
    const std::int32_t end = moment.event + 1;
    const std::int32_t first = moment.stretch + 1 < std::ssize(passed_) ? timeline_.at(moment.stretch).first : end;
    const Swing rest = swing(recorder_, first, end);
    ByBucket out{};
    for (std::size_t b = 0; b < bucket_count; ++b) out[b] = Bytes(risen(level[b], moment.turn, net[b], rest.net[b]));
    return out;
  }

  const Timeline& timeline_;
  const Recorder& recorder_;
  std::size_t mark_ = 0;
  Levels level_{};
  std::vector<std::pair<Levels, Levels>> passed_{};  ///< Of each stretch the levels before it and its net change.
};

}  // namespace

Peaks find_peaks(const Timeline& timeline) { return Walk(timeline).peaks; }

}  // namespace oomplan::estimator
