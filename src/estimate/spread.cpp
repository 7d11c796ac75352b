#include "spread.hpp"

#include <limits>

#include "instances.hpp"

namespace oomplan::estimator {
namespace {

/// The numbers of layers and turns where every layer is built.
class Numbers {
 public:
  Numbers(const Repetition& folded, const std::vector<Loops::Loop>& loops) : folded_(folded), loops_(loops) {
    for (const Unit& u : folded.units()) {
      const auto segment = static_cast<std::size_t>(u.segment);
      if (segment >= first_of_.size()) first_of_.resize(segment + 1, layers_);
      layers_ += u.layers * u.times;
    }
    std::int64_t next = layers_;
    for (const Loops::Loop& loop : loops) {
      turns_from_.push_back(next);
      next += Loops::played * times_of(loop);
    }
    end_ = next;
  }

  bool too_many() const { return end_ > std::numeric_limits<std::int16_t>::max(); }

  std::int16_t number(std::int16_t built, std::int64_t instance) const {
    if (built < 0) return built;
    if (loops_.empty() || built < loops_.front().first) return layer(built, instance);
    const auto loop = static_cast<std::size_t>((built - loops_.front().first) / Loops::played);
    const int turn = built - loops_[loop].first;
    return static_cast<std::int16_t>(turns_from_[loop] + instance * Loops::played + turn);
  }

  std::vector<Loops::Loop> loops() const {
    std::vector<Loops::Loop> out;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      for (std::int64_t i = 0; i < times_of(loops_[l]); ++i) {
        const auto first = static_cast<std::int16_t>(turns_from_[l] + i * Loops::played);
        out.push_back({layer(loops_[l].layer, i), loops_[l].module, loops_[l].turns, first});
      }
    }
    return out;
  }

 private:
  std::int64_t times_of(const Loops::Loop& loop) const { return folded_.times(folded_.unit_of(loop.layer)); }

  std::int16_t layer(std::int16_t built, std::int64_t instance) const {
    const Unit& u = folded_.unit(folded_.unit_of(built));
    return static_cast<std::int16_t>(first_of_[static_cast<std::size_t>(u.segment)] + folded_.number(built, instance));
  }

  const Repetition& folded_;
  const std::vector<Loops::Loop>& loops_;
  std::vector<std::int64_t> first_of_{};  ///< Of each segment's layers.
  std::int64_t layers_ = 0;
  std::vector<std::int64_t> turns_from_{};  ///< Of each loop, for the first of the layers that it stands for.
  std::int64_t end_ = 0;
};

class Spreader {
 public:
  Spreader(const Timeline& timeline, const Numbers& numbers, Recorder& out)
      : timeline_(timeline),
        from_(timeline.recorder()),
        numbers_(numbers),
        apart_(timeline, false),
        instances_(timeline, apart_),
        out_(out) {}

  void write() {
    for (std::int32_t s = 0; s < std::ssize(timeline_.stretches()); ++s) {
      const std::int64_t times = timeline_.times(s);
      for (std::int64_t turn = 0; turn < times; ++turn) {
        write(timeline_.at(s), times == 1 || timeline_.ascending(s) ? turn : times - 1 - turn);
      }
    }
    tell(static_cast<std::int32_t>(from_.events.size()));
  }

 private:
  /// What is told before the event `next`, once.
  void tell(std::int32_t next) {
    const auto now = static_cast<std::int32_t>(out_.events.size());
    for (; mark_ < from_.marks.size() && from_.marks[mark_].first <= next; ++mark_) {
      const Mark& m = from_.marks[mark_];
      out_.marks.push_back({now, m.phase, m.step});
    }
    for (; emptied_ < from_.emptied.size() && from_.emptied[emptied_] <= next; ++emptied_) out_.emptied.push_back(now);
    for (; handle_ < from_.handles.size() && from_.handles[handle_] <= next; ++handle_) out_.handles.push_back(now);
  }

  void write(const Stretch& stretch, std::int64_t turn) {
    for (std::int32_t i = stretch.first; i < stretch.end; ++i) {
      tell(i);
      const Event& e = from_.events[static_cast<std::size_t>(i)];
      std::int32_t& id = instances_.number(instances_.at(e.storage), stretch.unit, turn);
      const std::int16_t layer = numbers_.number(e.layer, turn);
      if (e.allocates) {
        id = static_cast<std::int32_t>(out_.storages.size());
        out_.storages.push_back(from_.at(e.storage));
        out_.storages.back().layer = numbers_.number(from_.at(e.storage).layer, turn);
      }
      out_.events.push_back({static_cast<StorageId>(id), layer, e.allocates});
    }
  }

  const Timeline& timeline_;
  const Recorder& from_;
  const Numbers& numbers_;
  const Bundles apart_;
  Instances instances_;
  Recorder& out_;
  std::size_t mark_ = 0;
  std::size_t emptied_ = 0;
  std::size_t handle_ = 0;
};

}  // namespace

bool spread(const Timeline& timeline, const std::vector<Loops::Loop>& loops, Spread& out) {
  const Numbers numbers(timeline.repetition(), loops);
  if (numbers.too_many()) return false;
  Spreader(timeline, numbers, out.recorder).write();
  out.loops = numbers.loops();
  return true;
}

}  // namespace oomplan::estimator
