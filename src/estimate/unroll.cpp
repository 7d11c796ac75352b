#include "unroll.hpp"

#include <limits>

#include "instances.hpp"

namespace oomplan::estimator {
namespace {

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

class Unroller {
 public:
  Unroller(const Timeline& timeline, Turns turns)
      : timeline_(timeline),
        recorder_(timeline.recorder()),
        bundles_(timeline, turns == Turns::together),
        slots_(timeline, bundles_) {}

  Unrolled unroll() {
    // Room for the handles' workspaces too, which are put between the events later.
    out_.reserve(static_cast<std::size_t>(event_count()) + recorder_.marks.size() + recorder_.emptied.size() +
                 recorder_.handles.size());
    for (std::int32_t s = 0; s < std::ssize(timeline_.stretches()); ++s) {
      mark(timeline_.at(s).first);
      const std::int64_t times = bundles_.played(timeline_.at(s).unit);
      for (std::int64_t turn = 0; turn < times; ++turn) {
        play(s, times == 1 || timeline_.ascending(s) ? turn : times - 1 - turn);
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
  std::int64_t event_count() const {
    std::int64_t total = 0;
    for (std::int32_t s = 0; s < std::ssize(timeline_.stretches()); ++s) {
      const Stretch& stretch = timeline_.at(s);
      std::int64_t events = stretch.end - stretch.first;
      if (bundles_.hold(stretch.unit)) events += 2 * std::ssize(bundles_.at(s).made) + std::ssize(bundles_.at(s).freed);
      total += bundles_.played(stretch.unit) * events;
    }
    return total;
  }

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
  void play(std::int32_t s, std::int64_t turn) {
    const Stretch& stretch = timeline_.at(s);
    if (!bundles_.hold(stretch.unit)) return play(stretch, turn);
    const bool grows = bundles_.at(s).grows;
    if (grows) play_bundles(s, turn);
    play(stretch, turn);
    if (!grows) play_bundles(s, turn);
  }

  void play(const Stretch& stretch, std::int64_t turn) {
    for (std::int32_t i = stretch.first; i < stretch.end; ++i) {
      add_handles(i);
      const Event& e = recorder_.events[static_cast<std::size_t>(i)];
      Instance& storage = slots_.at(e.storage);
      if (storage.bytes == 0) continue;
      std::int32_t& slot = slots_.number(storage, stretch.unit, turn);
      e.allocates ? allocate(slot, storage) : free(slot);
    }
  }

  void play_bundles(std::int32_t s, std::int64_t turn) {
    const std::int64_t count = bundles_.beside(timeline_.at(s).unit, turn);
    if (count == 0) return;
    for (const StorageId id : bundles_.at(s).freed) free(slots_.bundle(slots_.at(id), turn));
    for (const StorageId id : bundles_.at(s).made) {
      out_.push_back({oomplan::Event::Kind::times, 0, count});
      allocate(slots_.bundle(slots_.at(id), turn), slots_.at(id));
    }
  }

  void allocate(std::int32_t& slot, const Instance& storage) {
    slot = storage.scratch ? of_scratch + scratch_.take() : tensors_.take();
    if (storage.stream > 0) out_.push_back({oomplan::Event::Kind::stream, 0, storage.stream});
    out_.push_back({oomplan::Event::Kind::allocate, static_cast<std::uint32_t>(slot), storage.bytes});
  }

  void free(std::int32_t slot) {
    slot < of_scratch ? tensors_.give_back(slot) : scratch_.give_back(slot - of_scratch);
    out_.push_back({oomplan::Event::Kind::free, static_cast<std::uint32_t>(slot), 0});
  }

  const Timeline& timeline_;
  const Recorder& recorder_;
  const Bundles bundles_;
  Instances slots_;
  std::size_t mark_ = 0;
  std::size_t emptied_ = 0;
  std::int32_t next_handle_ = handle_at(0);
  std::vector<std::size_t> handles_{};
  Slots tensors_{};
  Slots scratch_{};
  std::vector<oomplan::Event> out_{};
};

}  // namespace

Unrolled unroll(const Timeline& timeline, Turns turns) { return Unroller(timeline, turns).unroll(); }

}  // namespace oomplan::estimator
