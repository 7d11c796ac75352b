#include "curve.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "unlimited.hpp"
#include "unroll.hpp"
#include "walker.hpp"
#include "workspaces.hpp"

namespace oomplan {

ByBucket by_bucket(const Curve& curve, const CurvePoint& point) {
  ByBucket out{};
  for (std::size_t g = 0; g < curve.groups.size(); ++g) at(out, curve.groups[g].bucket) += point.by_group[g];
  return out;
}

namespace estimator {
namespace {

/// A group that never holds this part of the highest moment is not one by itself.
constexpr std::int64_t smallest_part = 100;

/// What the allocator has reserved after each event of a tensor.
class Reserving {
 public:
  Reserving(const Timeline& timeline, const AllocatorSettings& settings, Bytes workspace)
      : run_(unroll(timeline)),
        first_workspace_(add_workspaces({workspace, run_.handles}, run_.events)),
        allocator_(settings) {}

  Bytes next() {
    while (next_ < run_.events.size()) {
      const oomplan::Event& event = run_.events[next_++];
      fits_ = allocator_.play(event) && fits_;
      const bool moves = event.kind == oomplan::Event::Kind::allocate || event.kind == oomplan::Event::Kind::free;
      if (moves && event.slot < first_workspace_) break;
    }
    return allocator_.statistics().reserved;
  }
  bool fits() const { return fits_; }

 private:
  Unrolled run_;
  std::uint32_t first_workspace_;
  Allocator allocator_;
  std::size_t next_ = 0;
  bool fits_ = true;
};

/// Which group each storage belongs to.
class CurveGroups {
 public:
  CurveGroups(const Timeline& timeline, const std::vector<std::string>& modules)
      : recorder_(timeline.recorder()), modules_(modules), of_storage_(recorder_.storages.size()) {
    std::map<Key, std::size_t> known;
    for (std::size_t i = 0; i < of_storage_.size(); ++i) {
      const Storage& storage = recorder_.storages[i];
      const auto [found, fresh] = known.try_emplace(Key{storage.bucket, storage.op, storage.module}, all_.size());
      if (fresh) all_.push_back({.key = found->first});
      of_storage_[i] = found->second;
    }
  }

  void play(const Here& here) {
    if (!is_tensor(recorder_.at(here.event))) return;
    const std::int64_t bytes = recorder_.at(here.event).bytes;
    group_of(here).level += here.allocated ? bytes : -bytes;
  }
  /// As play(), and what the group holds counts.
  void note(const Here& here) {
    if (!std::exchange(noted_, true)) {
      for (Held& one : all_) one.highest = one.level;
    }
    play(here);
    Held& group = group_of(here);
    group.highest = std::max(group.highest, group.level);
  }

  /// From what was noted: those that hold at least so much stand alone. Levels begin anew.
  std::vector<CurveGroup> chosen(std::int64_t least) {
    std::vector<Held*> order;
    for (Held& one : all_) order.push_back(&one);
    std::ranges::stable_sort(order, [&](const Held* a, const Held* b) {
      return std::tuple(std::get<Bucket>(a->key), -a->highest) < std::tuple(std::get<Bucket>(b->key), -b->highest);
    });
    std::vector<CurveGroup> out;
    for (Held* one : order) {
      one->level = 0;
      if (one->highest <= 0) continue;
      const auto& [bucket, op, module] = one->key;
      const bool alone = one->highest >= least;
      if (alone || out.empty() || out.back().bucket != bucket || !out.back().op.empty()) {
        out.push_back({.bucket = bucket});
        if (alone) out.back().op = op;
        if (alone && module >= 0) out.back().module = modules_[static_cast<std::size_t>(module)];
      }
      one->place = out.size() - 1;
    }
    return out;
  }

  std::vector<Bytes> levels(std::size_t groups) const {
    std::vector<Bytes> out(groups);
    for (const Held& one : all_)
      if (one.level != 0) out[one.place] += Bytes(one.level);
    return out;
  }

 private:
  using Key = std::tuple<Bucket, std::string, std::int32_t>;
  struct Held {
    Key key{};
    std::int64_t level = 0;
    std::int64_t highest = 0;
    std::size_t place = 0;  ///< Among those chosen.
  };

  Held& group_of(const Here& here) { return all_[of_storage_[static_cast<std::size_t>(here.event)]]; }

  const Recorder& recorder_;
  const std::vector<std::string>& modules_;
  std::vector<std::size_t> of_storage_;
  std::vector<Held> all_{};
  bool noted_ = false;
};

struct Highest {
  int step = 0;
  std::int64_t total = -1;
  std::size_t events = 0;  ///< Of the step.
};

Highest highest_of(Walker& walker) {
  Highest out;
  walker.walk([&](const Here& here) {
    if (here.total > out.total) out = {here.step, here.total};
  });
  walker.walk([&](const Here& here) { out.events += here.step == out.step ? 1 : 0; });
  return out;
}

}  // namespace

Result<Curve> curve_of(const Timeline& timeline, const std::vector<std::string>& modules,
                       const AllocatorSettings& settings, Bytes workspace, std::size_t most) {
  Walker walker(timeline);
  const Highest highest = highest_of(walker);
  CurveGroups groups(timeline, modules);
  walker.walk([&](const Here& here) { here.step == highest.step ? groups.note(here) : groups.play(here); });
  Curve out{.step = highest.step, .groups = groups.chosen(highest.total / smallest_part)};

  const std::size_t points = std::clamp<std::size_t>(most, 1, std::max<std::size_t>(highest.events, 1));
  const std::size_t a_point = (highest.events + points - 1) / points;
  Reserving reserving(timeline, settings, workspace);
  Bytes reserved;
  std::size_t seen = 0;
  std::int64_t best = 0;
  walker.walk([&](const Here& here) {
    groups.play(here);
    if (timeline.recorder().at(here.event).bytes > 0) reserved = reserving.next();
    if (here.step != highest.step) return;
    const bool first = seen++ % a_point == 0;
    if (!first && here.total <= best) return;
    best = here.total;
    if (first) out.points.emplace_back();
    const Storage& storage = timeline.recorder().at(here.latest);
    out.points.back() = {.phase = here.phase,
                         .by_group = groups.levels(out.groups.size()),
                         .reserved = reserved,
                         .op = storage.op,
                         .module = storage.module < 0 ? "" : modules[static_cast<std::size_t>(storage.module)],
                         .layer = here.layer,
                         .bytes = Bytes(storage.bytes)};
  });
  if (!reserving.fits()) return too_large();
  return out;
}

}  // namespace estimator
}  // namespace oomplan
