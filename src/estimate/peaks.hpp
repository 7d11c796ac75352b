// The highest moments of a timeline.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "oomplan/estimate/footprint.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// After event `event` of `stretch`, in the `turn`-th of its repetitions; before a stretch its first event is the next.
struct Moment {
  std::int32_t stretch = 0;
  std::int32_t event = -1;
  std::int64_t turn = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};

struct Peak {
  Phase phase = Phase::load;
  int step = 0;
  std::int64_t bytes = 0;
  Moment moment{};
};

/// The levels that a run's memory reaches, of each bucket and of all that the allocator handed out. Of equal moments
/// the first counts.
class Peaks {
 public:
  explicit Peaks(const Timeline& timeline);

  /// The highest moment of each phase of each step, in order of time.
  const std::vector<Peak>& of_phases() const { return phases_; }
  /// For each bucket the moment when it is largest; its `bytes` are the bucket's alone.
  const std::array<Peak, bucket_count>& of_buckets() const { return buckets_; }
  /// All that is alive at a moment.
  ByBucket at(const Moment& moment) const;

 private:
  /// A level of each bucket and, last, of all together but for what is paged.
  using Levels = std::array<std::int64_t, bucket_count + 1>;
  /// What a stretch does to the levels: how far they rise above its beginning, after which event, and where they end.
  struct Swing {
    Levels net{};
    Levels highest{};
    std::array<std::int32_t, bucket_count + 1> where{};
  };
  struct Passed {
    Levels before{};
    Levels net{};
  };

  Swing swing(const Stretch& stretch) const;
  void enter_phases(std::int32_t stretch, std::int32_t event, std::int64_t level);
  void cross(std::int32_t stretch, Levels& levels);
  void reach(const Peak& peak);

  const Timeline& timeline_;
  std::size_t next_mark_ = 0;
  std::vector<Passed> passed_{};  ///< Each stretch, and then the end.
  std::vector<Peak> phases_{};
  std::array<Peak, bucket_count> buckets_{};
};

}  // namespace oomplan::estimator
