#include "unroll.hpp"

#include <limits>

namespace oomplan::estimator {
namespace {

constexpr std::int32_t unborn = -1;

/// Numbers of slots that are free again once what they held is freed.
class Slots {
 public:
  std::int32_t take() {
    if (free_.empty()) free_.push_back(count_++);
    const std::int32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(std::int32_t slot) { free_.push_back(slot); }
  std::int32_t count() const { return count_; }

 private:
  std::vector<std::int32_t> free_{};
  std::int32_t count_ = 0;
};

/// Added to slots of what kernels take for themselves, until it is known how many the tensors have.
constexpr std::int32_t of_scratch = 1 << 30;

/// What the loop below looks up of a storage.
struct Seen {
  std::int64_t bytes = 0;      ///< 0: not the allocator's.
  std::int32_t slot = unborn;  ///< Of a repeated unit's: where in of_units_ its slots begin.
  std::int32_t unit = 0;
  std::int64_t times = 1;  ///< How many units that one stands for.
  StorageId twin = StorageId::none;
  bool scratch = false;
};

class Unroller {
 public:
  explicit Unroller(const Timeline& timeline)
      : timeline_(timeline), recorder_(timeline.recorder()), seen_(recorder_.storages.size()) {
    for (std::size_t i = 0; i < seen_.size(); ++i) seen_[i] = seen(recorder_.storages[i]);
    if (!timeline.repetition().whole()) find_twins();
  }

  Unrolled unroll() {
    // Room for the handles' workspaces too, which are put between the events later.
    out_.reserve(static_cast<std::size_t>(timeline_.event_count()) + recorder_.marks.size() + recorder_.emptied.size() +
                 recorder_.handles.size());
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
    for (oomplan::Event& event : out_) {
      if (event.slot >= of_scratch) event.slot += static_cast<std::uint32_t>(tensors_.count() - of_scratch);
    }
    return {std::move(out_), std::move(handles_), static_cast<std::uint32_t>(tensors_.count())};
  }

 private:
  Seen seen(const Storage& storage) const {
    const int unit = timeline_.unit_of(storage);
    return {.bytes = storage.bucket == Bucket::paged ? 0 : storage.bytes,
            .unit = unit,
            .times = timeline_.repetition().times(unit),
            .scratch = storage.bucket == Bucket::runtime};
  }

  // The middle unit's own storage for each of its neighbours': what stands at the same place of the stretch beside.
  void find_twins() {
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
      if (e.allocates) at(e.storage).twin = event(own.first + i).storage;
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
    while (next_handle_ <= before) {
      handles_.push_back(out_.size());
      next_handle_ = handle_at(handles_.size());
    }
  }

  /// The event that the `number`-th handle is made before.
  std::int32_t handle_at(std::size_t number) const {
    return number < recorder_.handles.size() ? recorder_.handles[number] : std::numeric_limits<std::int32_t>::max();
  }

  /// `turn`: of the units that a repeated stretch stands for.
  void play(const Stretch& stretch, std::int64_t turn) {
    const bool repeats = timeline_.repetition().repeats(stretch.unit);
    for (std::int32_t i = stretch.first; i < stretch.end; ++i) {
      add_handles(i);
      const Event& e = event(i);
      Seen& storage = at(e.storage);
      if (storage.bytes == 0) continue;
      std::int32_t& slot = repeats ? slot_in_unit(storage, stretch.unit, turn) : slot_outside(storage, stretch.unit);
      e.allocates ? allocate(slot, storage) : free(slot);
    }
  }

  void allocate(std::int32_t& slot, const Seen& storage) {
    slot = storage.scratch ? of_scratch + scratch_.take() : tensors_.take();
    out_.push_back({oomplan::Event::Kind::allocate, static_cast<std::uint32_t>(slot), storage.bytes});
  }

  void free(std::int32_t slot) {
    slot < of_scratch ? tensors_.give_back(slot) : scratch_.give_back(slot - of_scratch);
    out_.push_back({oomplan::Event::Kind::free, static_cast<std::uint32_t>(slot), 0});
  }

  // What a repeated unit sees of a neighbour's is, but for the outermost, another repeated unit's.
  std::int32_t& slot_in_unit(Seen& storage, int unit, std::int64_t turn) {
    const int distance = storage.unit - unit;
    if (distance == 0) return repeated(storage, turn);
    const std::int64_t owner = turn + distance;
    const bool another = owner >= 0 && owner < timeline_.repetition().times(unit) && storage.twin != StorageId::none;
    return another ? repeated(at(storage.twin), owner) : storage.slot;
  }

  std::int32_t& slot_outside(Seen& storage, int unit) {
    if (storage.times == 1) return storage.slot;
    return repeated(storage, unit < storage.unit ? 0 : storage.times - 1);
  }

  std::int32_t& repeated(Seen& storage, std::int64_t turn) {
    if (storage.slot == unborn) {
      storage.slot = static_cast<std::int32_t>(of_units_.size());
      of_units_.resize(of_units_.size() + static_cast<std::size_t>(storage.times), unborn);
    }
    return of_units_[static_cast<std::size_t>(storage.slot) + static_cast<std::size_t>(turn)];
  }

  Seen& at(StorageId id) { return seen_[static_cast<std::size_t>(id)]; }

  const Timeline& timeline_;
  const Recorder& recorder_;
  std::vector<Seen> seen_;
  std::vector<std::int32_t> of_units_{};  ///< Of each repeated unit's own.
  std::size_t mark_ = 0;
  std::size_t emptied_ = 0;
  std::int32_t next_handle_ = handle_at(0);
  std::vector<std::size_t> handles_{};
  Slots tensors_{};
  Slots scratch_{};
  std::vector<oomplan::Event> out_{};
};

}  // namespace

Unrolled unroll(const Timeline& timeline) { return Unroller(timeline).unroll(); }

}  // namespace oomplan::estimator
