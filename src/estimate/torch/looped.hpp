// Which loops of a run are played with a few turns.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder.hpp"

namespace oomplan::estimator {

class Loops {
 public:
  /// Of a loop's turns. The first and the last two are unlike the others (the first gradient is not added to one), and
  /// the turns beside these in what they free of them.
  static constexpr std::int64_t played = 9;

  /// A loop within a layer, as often as it is run: its turns are numbered as layers are, from `first` on.
  struct Loop {
    std::int16_t layer = -1;
    std::int32_t module = -1;
    std::int64_t turns = 0;
    std::int16_t first = 0;
  };

  /// From here on long loops are played with a few turns, which have their numbers after those of `layers` built.
  void fold_after(std::int64_t layers) { next_ = layers; }
  void clear() {
    all_.clear();
    next_ = 0;
  }

  /// The number of the first turn of the loop at work; -1 where each of its turns is played.
  std::int16_t first_of(const Scope& at, std::int64_t turns);
  const std::vector<Loop>& all() const { return all_; }
  /// Whether what is numbered as a layer is a turn of a loop.
  bool is_turn(std::int16_t layer) const { return !all_.empty() && layer >= all_.front().first; }

 private:
  std::vector<Loop> all_{};
  std::int64_t next_ = 0;  ///< Of numbers; 0: none are given.
};

}  // namespace oomplan::estimator
