#include "unroll.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int32_t unborn = -1;

class Unroller {
 public:
  explicit Unroller(const Timeline& timeline)
      : timeline_(timeline), recorder_(timeline.recorder()), of_storages_(recorder_.storages.size(), unborn) {
    if (!timeline.repetition().whole()) find_twins();
  }

  Unrolled unroll() {
    out_.reserve(static_cast<std::size_t>(timeline_.event_count()) + recorder_.marks.size());
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(timeline_.stretches().size()); ++s) {
      mark(timeline_.at(s).first);
      const std::int64_t times = timeline_.times(s);
      for (std::int64_t turn = 0; turn < times; ++turn) {
        play(timeline_.at(s), times == 1 || timeline_.ascending(s) ? turn : times - 1 - turn);
      }
    }
    const auto end = static_cast<std::int32_t>(recorder_.events.size());
    mark(end);
    add_handles(end);
    return {std::move(out_), std::move(handles_)};
  }

 private:
  // The middle unit's own storage for each of its neighbours': what stands at the same place of the stretch beside.
  void find_twins() {
    twins_.assign(recorder_.storages.size(), StorageId::none);
    const std::vector<Stretch>& all = timeline_.stretches();
    for (std::size_t s = 1; s + 1 < all.size(); ++s) {
      if (!timeline_.repeated(static_cast<std::int32_t>(s))) continue;
      find_twins(all[s], all[s - 1]);
      find_twins(all[s], all[s + 1]);
    }
  }

  void find_twins(const Stretch& own, const Stretch& beside) {
    for (std::int32_t i = 0; i < own.end - own.first; ++i) {
      const Event& e = event(beside.first + i);
      if (e.allocates) twins_[static_cast<std::size_t>(e.storage)] = event(own.first + i).storage;
    }
  }

  const Event& event(std::int32_t i) const { return recorder_.events[static_cast<std::size_t>(i)]; }

  /// What is told before the event `first`.
  void mark(std::int32_t first) {
    for (; emptied_ < recorder_.emptied.size() && recorder_.emptied[emptied_] <= first; ++emptied_) {
      out_.push_back({oomplan::Event::Kind::empty_cache, 0, 0});
    }
    while (mark_ < recorder_.marks.size() && recorder_.marks[mark_].first <= first) {
      const Mark& m = recorder_.marks[mark_++];
      out_.push_back({oomplan::Event::Kind::mark, 0, PhaseOfStep{m.phase, m.step}.code()});
    }
  }

  void add_handles(std::int32_t before) {
    for (; handle_ < recorder_.handles.size() && recorder_.handles[handle_] <= before; ++handle_)
      handles_.push_back(out_.size());
  }

  /// `turn`: of the units that a repeated stretch stands for.
  void play(const Stretch& stretch, std::int64_t turn) {
    const bool repeats = timeline_.repetition().repeats(stretch.unit);
    for (std::int32_t i = stretch.first; i < stretch.end; ++i) {
      add_handles(i);
      const Event& e = event(i);
      const std::int64_t bytes = recorder_.at(e.storage).bytes;
      if (bytes == 0 || recorder_.at(e.storage).bucket == Bucket::paged) continue;  // Not the allocator's.
      std::int32_t& slot =
          repeats ? slot_in_unit(e.storage, stretch.unit, turn) : slot_outside(e.storage, stretch.unit);
      e.allocates ? allocate(slot, bytes) : free(slot);
    }
  }

  void allocate(std::int32_t& slot, std::int64_t bytes) {
    if (free_slots_.empty()) free_slots_.push_back(slots_++);
    slot = free_slots_.back();
    free_slots_.pop_back();
    out_.push_back({oomplan::Event::Kind::allocate, static_cast<std::uint32_t>(slot), bytes});
  }

  void free(std::int32_t slot) {
    free_slots_.push_back(slot);
    out_.push_back({oomplan::Event::Kind::free, static_cast<std::uint32_t>(slot), 0});
  }

  // What a repeated unit sees of a neighbour's is, but for the outermost, another repeated unit's.
  std::int32_t& slot_in_unit(StorageId id, int unit, std::int64_t turn) {
    const int distance = unit_of(id) - unit;
    if (distance == 0) return repeated(id, turn);
    const std::int64_t owner = turn + distance;
    const StorageId twin = twins_[static_cast<std::size_t>(id)];
    const bool another = owner >= 0 && owner < timeline_.repetition().times(unit) && twin != StorageId::none;
    return another ? repeated(twin, owner) : of_storages_[static_cast<std::size_t>(id)];
  }

  std::int32_t& slot_outside(StorageId id, int unit) {
    const int owner = unit_of(id);
    const std::int64_t times = timeline_.repetition().times(owner);
    if (times == 1) return of_storages_[static_cast<std::size_t>(id)];
    return repeated(id, unit < owner ? 0 : times - 1);
  }

  std::int32_t& repeated(StorageId id, std::int64_t turn) {
    std::int32_t& first = of_storages_[static_cast<std::size_t>(id)];
    if (first == unborn) {
      first = static_cast<std::int32_t>(of_units_.size());
      const std::int64_t times = timeline_.repetition().times(unit_of(id));
      of_units_.resize(of_units_.size() + static_cast<std::size_t>(times), unborn);
    }
    return of_units_[static_cast<std::size_t>(first) + static_cast<std::size_t>(turn)];
  }

  int unit_of(StorageId id) const { return timeline_.unit_of(recorder_.at(id)); }

  const Timeline& timeline_;
  const Recorder& recorder_;
  std::vector<std::int32_t> of_storages_;  ///< Their slots; of a repeated unit's, where in of_units_ they begin.
  std::vector<std::int32_t> of_units_{};   ///< Of each repeated unit's own.
  std::vector<StorageId> twins_{};
  std::size_t mark_ = 0;
  std::size_t emptied_ = 0;
  std::size_t handle_ = 0;
  std::vector<std::size_t> handles_{};
  std::vector<std::int32_t> free_slots_{};
  std::int32_t slots_ = 0;
  std::vector<oomplan::Event> out_{};
};

}  // namespace

Unrolled unroll(const Timeline& timeline) { return Unroller(timeline).unroll(); }

}  // namespace oomplan::estimator
