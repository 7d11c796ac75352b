// Numbers for the storages of units that stand for several: one for each of those.
#pragma once

#include <cstdint>
#include <vector>

#include "bundles.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// What is looked up of a storage at each of its events.
struct Instance {
  static constexpr std::int32_t unborn = -1;

  std::int64_t bytes = 0;         ///< 0: not the allocator's.
  std::int32_t number = unborn;   ///< Of a repeated unit's: where its numbers begin.
  std::int32_t bundles = unborn;  ///< Of a turn's: where those of the bundles beside the turns begin.
  std::int32_t unit = 0;
  std::int64_t times = 1;  ///< How many units that one stands for.
  StorageId twin = StorageId::none;
  bool scratch = false;
  std::uint8_t stream = 0;
};

class Instances {
 public:
  /// `bundles` outlive it.
  Instances(const Timeline& timeline, const Bundles& bundles);

  Instance& at(StorageId id) { return all_[static_cast<std::size_t>(id)]; }
  /// The number of what a stretch of `unit` means by a storage, in the `turn`-th of the units that it stands for.
  std::int32_t& number(Instance& storage, int unit, std::int64_t turn) {
    return bundles_.played(unit) > 1 ? in_unit(storage, unit, turn) : outside(storage, unit);
  }
  /// Of the bundle of the storage beside the `turn`-th turn.
  std::int32_t& bundle(Instance& storage, std::int64_t turn) { return one_of(storage.bundles, storage, turn); }

 private:
  void find_twins();
  void find_twins(const Stretch& own, const Stretch& beside);
  const Event& event(std::int32_t i) const { return timeline_.recorder().events[static_cast<std::size_t>(i)]; }

  // What a repeated unit sees of a neighbour's is, but for the outermost, another repeated unit's.
  std::int32_t& in_unit(Instance& storage, int unit, std::int64_t turn) {
    const int distance = storage.unit - unit;
    if (distance == 0) return one_of(storage.number, storage, turn);
    const std::int64_t owner = turn + distance;
    const bool another = owner >= 0 && owner < bundles_.played(unit) && storage.twin != StorageId::none;
    if (!another) return storage.number;
    Instance& twin = at(storage.twin);
    return one_of(twin.number, twin, owner);
  }

  std::int32_t& outside(Instance& storage, int unit) {
    if (storage.times == 1) return storage.number;
    return one_of(storage.number, storage, unit < storage.unit ? 0 : storage.times - 1);
  }

  std::int32_t& one_of(std::int32_t& first, const Instance& storage, std::int64_t turn) {
    if (first == Instance::unborn) {
      first = static_cast<std::int32_t>(of_units_.size());
      of_units_.resize(of_units_.size() + static_cast<std::size_t>(storage.times), Instance::unborn);
    }
    return of_units_[static_cast<std::size_t>(first) + static_cast<std::size_t>(turn)];
  }

  const Timeline& timeline_;
  const Bundles& bundles_;
  std::vector<Instance> all_;
  std::vector<std::int32_t> of_units_{};  ///< Of each repeated unit's own, and of its bundles.
};

}  // namespace oomplan::estimator
