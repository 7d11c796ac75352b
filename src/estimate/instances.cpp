#include "instances.hpp"

namespace oomplan::estimator {

Instances::Instances(const Timeline& timeline, const Bundles& bundles) : timeline_(timeline), bundles_(bundles) {
  all_.reserve(timeline.recorder().storages.size());
  for (const Storage& storage : timeline.recorder().storages) {
    const int unit = timeline.unit_of(storage);
    all_.push_back({.bytes = storage.bucket == Bucket::paged ? 0 : storage.bytes,
                    .unit = unit,
                    .times = bundles.played(unit),
                    .scratch = storage.bucket == Bucket::runtime,
                    .stream = storage.stream});
  }
  if (!timeline.repetition().whole()) find_twins();
}

// The middle unit's own storage for each of its neighbours': what stands at the same place of the stretch beside.
void Instances::find_twins() {
  const std::vector<Stretch>& all = timeline_.stretches();
  for (std::size_t s = 1; s + 1 < all.size(); ++s) {
    if (!timeline_.repeated(static_cast<std::int32_t>(s))) continue;
    find_twins(all[s], all[s - 1]);
    find_twins(all[s], all[s + 1]);
  }
}

void Instances::find_twins(const Stretch& own, const Stretch& beside) {
  for (std::int32_t i = 0; i < own.end - own.first; ++i) {
    const Event& e = event(beside.first + i);
    if (e.allocates) at(e.storage).twin = event(own.first + i).storage;
  }
}

}  // namespace oomplan::estimator
