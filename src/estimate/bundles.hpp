// What the turns of a long loop leave for a later loop, many of them together.
#pragma once

#include <cstdint>
#include <vector>

#include "timeline.hpp"

namespace oomplan::estimator {

class Bundles {
 public:
  /// At a stretch of a loop's middle turn: the storages of that turn of which each of the turns that are not played
  /// makes one, or frees one that an earlier stretch made.
  struct Stop {
    std::vector<StorageId> made{};
    std::vector<StorageId> freed{};
    bool grows = false;  ///< They leave more than they find, so that the last turn is the highest.
  };

  /// Of a timeline that repeats exactly; none where not `wanted`.
  Bundles(const Timeline& timeline, bool wanted);

  /// Whether some of the turns that this unit stands for are in bundles.
  bool hold(int unit) const { return played(unit) < timeline_.repetition().times(unit); }
  /// How many of the units that this one stands for are played.
  std::int64_t played(int unit) const;
  /// How many turns are in the bundle beside the `turn`-th that is played.
  std::int64_t beside(int unit, std::int64_t turn) const;
  const Stop& at(std::int32_t stretch) const { return stops_[static_cast<std::size_t>(stretch)]; }

 private:
  std::int64_t played_of(std::int64_t turns) const;
  void add(StorageId id, const Place& birth, const Place& death);
  std::int32_t freed_at(int unit, const Place& death) const;
  void set_growth(std::int32_t stretch);

  const Timeline& timeline_;
  std::int64_t enough_ = 0;    ///< Turns of a long loop that are played.
  std::vector<Stop> stops_{};  ///< Of each stretch; none where there are no bundles.
};

}  // namespace oomplan::estimator
