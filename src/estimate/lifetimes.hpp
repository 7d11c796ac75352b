// Which storages are alive at a moment of a timeline.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "peaks.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// A storage alive at a moment, `count` times over.
struct Live {
  StorageId storage = StorageId::none;
  std::int64_t count = 0;
  int first_layer = -1;
  int last_layer = -1;
};

class Lifetimes {
 public:
  explicit Lifetimes(const Timeline& timeline)
      : timeline_(timeline), births_(timeline.births()), deaths_(timeline.deaths()) {}

  std::vector<Live> alive_at(const Moment& now) const;
  /// Whatever is allocated, each layer's own counted.
  std::vector<Live> ever_alive() const;

 private:
  /// Units first, first + 1, … end - 1 of those that a middle one stands for; a storage of another unit has one.
  struct Range {
    std::int64_t first = 0;
    std::int64_t end = 0;
    bool empty() const { return first >= end; }
    bool holds(std::int64_t j) const { return first <= j && j < end; }
  };

  /// How many units a storage's stands for.
  std::int64_t times(const Storage& storage) const { return timeline_.repetition().times(timeline_.unit_of(storage)); }
  Range passed(const Moment& now, const Place& place) const;
  Range dead(const Moment& now, const Storage& storage, const Place& death) const;
  Range freed_by_neighbour(const Moment& now, const Storage& storage, const Place& death) const;
  Live live(StorageId id, const Range& alive) const;

  const Timeline& timeline_;
  std::vector<Place> births_;
  std::vector<Place> deaths_;
};

}  // namespace oomplan::estimator
