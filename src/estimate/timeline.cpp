#include "timeline.hpp"

#include <algorithm>
#include <tuple>

namespace oomplan::estimator {
namespace {

/// The events cut where the block at work or the phase changes.
std::vector<Stretch> stretches(const Recorder& r) {
  std::vector<Stretch> out;
  std::size_t next_mark = 0;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(r.events.size()); ++i) {
    const std::int16_t layer = r.events[static_cast<std::size_t>(i)].layer;
    bool cut = out.empty() || out.back().layer != layer;
    for (; next_mark < r.marks.size() && r.marks[next_mark].first <= i; ++next_mark) cut = true;
    if (cut) out.push_back({i, i, layer});
    out.back().end = i + 1;
  }
  return out;
}

/// Which of its block's storages one is: in which of the block's stretches it was allocated, and the how-manyth there.
/// A count through the whole run would go wrong behind a first block that has less to do in backward (LoRA).
struct Name {
  std::int32_t stretch = 0;
  std::int32_t ordinal = 0;
  friend bool operator==(const Name&, const Name&) = default;
};

/// An event as it looks from the block at work: whose storage, which of those, of what size.
struct Relative {
  int owner = 0;
  Name name{};
  std::int64_t bytes = 0;
  bool allocates = false;
  friend bool operator==(const Relative&, const Relative&) = default;
};

constexpr int no_block = 1 << 20;

std::vector<Name> names(const Recorder& r, const std::vector<Stretch>& all) {
  std::vector<Name> out(r.storages.size());
  std::vector<std::int32_t> seen;
  for (const Stretch& s : all) {
    const auto block = static_cast<std::size_t>(s.layer + 1);
    if (block >= seen.size()) seen.resize(block + 1, 0);
    Name next{seen[block]++, 0};
    for (std::int32_t i = s.first; i < s.end; ++i) {
      const Event& e = r.events[static_cast<std::size_t>(i)];
      if (!e.allocates) continue;
      out[static_cast<std::size_t>(e.storage)] = next;
      ++next.ordinal;
    }
  }
  return out;
}

Relative relative(const Recorder& r, const std::vector<Name>& name, const Event& e) {
  const auto id = static_cast<std::size_t>(e.storage);
  const Storage& s = r.storages[id];
  return {s.layer < 0 ? no_block : s.layer - e.layer, name[id], s.bytes, e.allocates};
}

bool alike(const Recorder& r, const std::vector<Name>& name, const Stretch& a, const Stretch& b) {
  if (a.end - a.first != b.end - b.first) return false;
  for (std::int32_t i = 0; i < a.end - a.first; ++i) {
    const Relative x = relative(r, name, r.events[static_cast<std::size_t>(a.first + i)]);
    if (x.owner == no_block) return false;
    if (!(x == relative(r, name, r.events[static_cast<std::size_t>(b.first + i)]))) return false;
  }
  return true;
}

/// When something happens: in which stretch, in which of its repetitions, at which event.
struct Time {
  std::int32_t stretch = 0;
  std::int64_t turn = 0;
  std::int32_t event = 0;
  friend auto operator<=>(const Time&, const Time&) = default;
};

constexpr Time never{1 << 30, 0, 0};

/// A run's stretches and, for each storage, the events of its birth and death.
class Chart {
 public:
  Chart(const Recorder& recorder, const Repetition& repetition)
      : recorder_(recorder), repetition_(repetition), stretches_(stretches(recorder)),
        birth_(recorder.storages.size(), -1), death_(recorder.storages.size(), -1) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(recorder.events.size()); ++i) {
      const Event& e = recorder.events[static_cast<std::size_t>(i)];
      (e.allocates ? birth_ : death_)[static_cast<std::size_t>(e.storage)] = i;
    }
  }

  std::int32_t stretch_of(std::int32_t event) const {
    const auto at = std::upper_bound(stretches_.begin(), stretches_.end(), event,
                                     [](std::int32_t e, const Stretch& s) { return e < s.first; });
    return static_cast<std::int32_t>(at - stretches_.begin()) - 1;
  }

  bool middle(std::int32_t stretch) const {
    return !repetition_.whole() && at(stretch).layer == repetition_.middle();
  }

  /// In which turn of a middle stretch the `j`-th of the repeated blocks is at work.
  std::int64_t turn(std::int32_t stretch, std::int64_t j) const {
    const bool ascending = stretch > 0 && at(stretch - 1).layer == repetition_.middle() - 1;
    return ascending ? j : repetition_.times() - 1 - j;
  }

  Time birth(std::size_t storage, std::int64_t j) const {
    const std::int32_t event = birth_[storage];
    const std::int32_t stretch = stretch_of(event);
    return {stretch, middle(stretch) ? turn(stretch, j) : 0, event};
  }

  Time death(std::size_t storage, std::int64_t j) const;

 private:
  const Stretch& at(std::int32_t i) const { return stretches_[static_cast<std::size_t>(i)]; }

  const Recorder& recorder_;
  const Repetition& repetition_;
  std::vector<Stretch> stretches_;
  std::vector<std::int32_t> birth_;
  std::vector<std::int32_t> death_;
};

/// Of a storage of the middle block `j` is the repeated block that it belongs to. What a block frees of its neighbour's
/// it frees in every repetition, of another neighbour each time.
Time Chart::death(std::size_t storage, std::int64_t j) const {
  const std::int32_t event = death_[storage];
  if (event < 0) return never;
  const std::int32_t stretch = stretch_of(event);
  const int m = repetition_.middle();
  const int killer = at(stretch).layer;
  const int owner = recorder_.storages[storage].layer;
  const std::int64_t last = repetition_.times() - 1;
  if (middle(stretch)) {
    const std::int64_t by = owner == m ? j : owner > m ? last : 0;
    return {stretch, turn(stretch, by), event};
  }
  if (repetition_.whole() || owner != m || killer < 0) return {stretch, 0, event};
  const int step = killer > m ? 1 : -1;
  if (j + step < 0 || j + step > last) return {stretch, 0, event};
  const bool ascending_here = stretch > 0 && at(stretch - 1).layer == m;
  const std::int32_t twin = ascending_here ? stretch - 1 : stretch + 1;
  return {twin, turn(twin, j + step), at(twin).first + (event - at(stretch).first)};
}

/// Walks the run and calls visit(phase, step, level, event, replica) wherever a phase may have its peak.
template <class Weight, class Visit>
void walk(const Recorder& r, const Repetition& repetition, Weight&& weight, Visit&& visit) {
  std::int64_t level = 0;
  std::size_t mark = 0;
  const auto enter_phases = [&](std::int32_t event) {
    for (; mark < r.marks.size() && r.marks[mark].first <= event; ++mark) visit(r.marks[mark], level, event - 1, 0);
  };
  for (const Stretch& s : stretches(r)) {
    enter_phases(s.first);
    std::int64_t net = 0;
    std::int64_t highest = 0;
    std::int32_t where = -1;
    for (std::int32_t i = s.first; i < s.end; ++i) {
      const Event& e = r.events[static_cast<std::size_t>(i)];
      const std::int64_t bytes = weight(static_cast<std::size_t>(e.storage));
      net = e.allocates ? saturating_add(net, bytes) : net - bytes;
      if (net > highest) {
        highest = net;
        where = i;
      }
    }
    const bool repeated = !repetition.whole() && s.layer == repetition.middle();
    const std::int64_t times = repeated ? repetition.times() : 1;
    if (where >= 0) {
      const std::int64_t turn = net > 0 ? times - 1 : 0;
      visit(r.marks[mark - 1], saturating_add(level, saturating_add(saturating_mul(turn, net), highest)), where, turn);
    }
    level = saturating_add(level, saturating_mul(times, net));
  }
  enter_phases(static_cast<std::int32_t>(r.events.size()));
}

}  // namespace

bool repeats_exactly(const Recorder& r, const Repetition& repetition) {
  const int m = repetition.middle();
  const std::vector<Stretch> all = stretches(r);
  const std::vector<Name> name = names(r, all);
  int unmatched = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].layer == m - 1 || all[i].layer == m + 1) ++unmatched;
    if (all[i].layer != m) continue;
    if (i == 0 || i + 1 == all.size()) return false;
    if (all[i - 1].layer + all[i + 1].layer != 2 * m || all[i - 1].layer < 0 || all[i - 1].layer == all[i + 1].layer) {
      return false;
    }
    if (!alike(r, name, all[i - 1], all[i]) || !alike(r, name, all[i], all[i + 1])) return false;
    unmatched -= 2;
  }
  if (unmatched != 0) return false;
  return std::none_of(r.events.begin(), r.events.end(), [&](const Event& e) {
    return r.storages[static_cast<std::size_t>(e.storage)].layer == m && std::abs(e.layer - m) > 1;
  });
}

std::vector<Moment> peaks(const Recorder& r, const Repetition& repetition) {
  std::vector<Moment> out;
  walk(
      r, repetition, [&](std::size_t id) { return r.storages[id].bytes; },
      [&](const Mark& mark, std::int64_t level, std::int32_t event, std::int64_t turn) {
        const auto same = [&](const Moment& m) { return m.phase == mark.phase && m.step == mark.step; };
        const auto at = std::find_if(out.begin(), out.end(), same);
        const Moment here{mark.phase, mark.step, level, event, turn};
        if (at == out.end()) {
          out.push_back(here);
        } else if (level > at->bytes) {
          *at = here;
        }
      });
  return out;
}

std::vector<Moment> bucket_peaks(const Recorder& r, const Repetition& repetition) {
  std::vector<Moment> out(bucket_count);
  for (std::size_t b = 0; b < bucket_count; ++b) {
    walk(
        r, repetition,
        [&](std::size_t id) { return r.storages[id].bucket == static_cast<Bucket>(b) ? r.storages[id].bytes : 0; },
        [&](const Mark& mark, std::int64_t level, std::int32_t event, std::int64_t turn) {
          if (level > out[b].bytes) out[b] = {mark.phase, mark.step, level, event, turn};
        });
  }
  return out;
}

std::vector<Live> alive_at(const Recorder& r, const Repetition& repetition, const Moment& moment) {
  std::vector<Live> out;
  if (moment.event < 0) return out;
  const Chart chart(r, repetition);
  const Time now{chart.stretch_of(moment.event), moment.replica, moment.event};
  const int m = repetition.middle();
  for (std::size_t id = 0; id < r.storages.size(); ++id) {
    const int owner = r.storages[id].layer;
    const bool repeated = !repetition.whole() && owner == m;
    const auto real = [&](std::int64_t j) {
      return static_cast<int>(owner <= m || repetition.whole() ? owner + j : owner + repetition.times() - 1);
    };
    Live live{static_cast<StorageId>(id), 0, -1, -1};
    for (std::int64_t j = 0; j < (repeated ? repetition.times() : 1); ++j) {
      if (now < chart.birth(id, j) || !(now < chart.death(id, j))) continue;
      if (live.count++ == 0) live.first_layer = owner < 0 ? -1 : real(j);
      live.last_layer = owner < 0 ? -1 : real(j);
    }
    if (live.count > 0) out.push_back(live);
  }
  return out;
}

std::int64_t event_count(const Recorder& r, const Repetition& repetition) {
  auto total = static_cast<std::int64_t>(r.events.size());
  if (repetition.whole()) return total;
  for (const Event& e : r.events) total += e.layer == repetition.middle() ? repetition.times() - 1 : 0;
  return total;
}

}  // namespace oomplan::estimator
