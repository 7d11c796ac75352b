#include "unroll.hpp"

#include <map>
#include <tuple>

namespace oomplan::estimator {
namespace {

constexpr std::int32_t unborn = -1;

class Unroller {
 public:
  explicit Unroller(const Timeline& timeline)
      : timeline_(timeline), recorder_(timeline.recorder()), numbers_(recorder_.storages.size(), unborn) {
    if (!timeline.repetition().whole()) find_twins();
  }

  Unrolled unroll() {
    out_.events.reserve(static_cast<std::size_t>(timeline_.event_count()));
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(timeline_.stretches().size()); ++s) {
      mark(timeline_.at(s));
      const std::int64_t times = timeline_.times(s);
      for (std::int64_t turn = 0; turn < times; ++turn) {
        play(timeline_.at(s), times == 1 || timeline_.ascending(s) ? turn : times - 1 - turn);
      }
    }
    return std::move(out_);
  }

 private:
  int middle() const { return timeline_.repetition().middle(); }
  std::int64_t times() const { return timeline_.repetition().times(); }

  // The middle block's own storage for each of its neighbours': of the same stretch, the same how-manyth.
  void find_twins() {
    twins_.assign(recorder_.storages.size(), StorageId::none);
    std::vector<std::int32_t> seen(static_cast<std::size_t>(timeline_.repetition().built + 1), 0);
    std::map<std::tuple<int, std::int32_t, std::int32_t>, StorageId> born;
    for (const Stretch& s : timeline_.stretches()) {
      const std::int32_t number = seen[static_cast<std::size_t>(s.layer + 1)]++;
      std::int32_t ordinal = 0;
      for (std::int32_t i = s.first; i < s.end; ++i) {
        const Event& e = recorder_.events[static_cast<std::size_t>(i)];
        if (e.allocates) born[{s.layer, number, ordinal++}] = e.storage;
      }
    }
    for (const auto& [name, id] : born) {
      const auto& [layer, number, ordinal] = name;
      if (layer != middle() - 1 && layer != middle() + 1) continue;
      const auto twin = born.find({middle(), number, ordinal});
      if (twin != born.end()) twins_[static_cast<std::size_t>(id)] = twin->second;
    }
  }

  void mark(const Stretch& stretch) {
    while (mark_ < recorder_.marks.size() && recorder_.marks[mark_].first <= stretch.first) {
      const Mark& m = recorder_.marks[mark_++];
      out_.marks.push_back({static_cast<std::int64_t>(out_.events.size()), m.phase, m.step});
    }
  }

  void play(const Stretch& stretch, std::int64_t block) {
    const bool repeats = !timeline_.repetition().whole() && stretch.layer == middle();
    for (std::int32_t i = stretch.first; i < stretch.end; ++i) {
      const Event& e = recorder_.events[static_cast<std::size_t>(i)];
      const std::int64_t bytes = recorder_.at(e.storage).bytes;
      if (bytes == 0) continue;
      std::int32_t& number = repeats ? number_in_block(e.storage, block) : number_outside(e.storage, stretch.layer);
      if (e.allocates) {
        number = static_cast<std::int32_t>(out_.bytes.size());
        out_.bytes.push_back(bytes);
        out_.events.push_back(number);
      } else {
        out_.events.push_back(~number);
      }
    }
  }

  // What a repeated block sees of a neighbour's is, but for the outermost, another repeated block's.
  std::int32_t& number_in_block(StorageId id, std::int64_t block) {
    const int distance = recorder_.at(id).layer - middle();
    if (distance == 0) return repeated(id, block);
    const std::int64_t owner = block + distance;
    const StorageId twin = twins_[static_cast<std::size_t>(id)];
    if (owner < 0 || owner >= times() || twin == StorageId::none) return numbers_[static_cast<std::size_t>(id)];
    return repeated(twin, owner);
  }

  std::int32_t& number_outside(StorageId id, int layer) {
    const bool repeats = !timeline_.repetition().whole() && recorder_.at(id).layer == middle();
    if (!repeats) return numbers_[static_cast<std::size_t>(id)];
    return repeated(id, layer < middle() ? 0 : times() - 1);
  }

  std::int32_t& repeated(StorageId id, std::int64_t block) {
    std::int32_t& first = numbers_[static_cast<std::size_t>(id)];
    if (first == unborn) {
      first = static_cast<std::int32_t>(of_blocks_.size());
      of_blocks_.resize(of_blocks_.size() + static_cast<std::size_t>(times()), unborn);
    }
    return of_blocks_[static_cast<std::size_t>(first) + static_cast<std::size_t>(block)];
  }

  const Timeline& timeline_;
  const Recorder& recorder_;
  std::vector<std::int32_t> numbers_;      ///< Of each storage; of a repeated block's, where in of_blocks_ it begins.
  std::vector<std::int32_t> of_blocks_{};  ///< Of each repeated block's own.
  std::vector<StorageId> twins_{};
  std::size_t mark_ = 0;
  Unrolled out_{};
};

}  // namespace

Unrolled unroll(const Timeline& timeline) { return Unroller(timeline).unroll(); }

}  // namespace oomplan::estimator
