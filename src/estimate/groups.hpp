// What is alive at a moment, alike allocations together.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lifetimes.hpp"
#include "oomplan/estimate/footprint.hpp"

namespace oomplan::estimator {

class Groups {
 public:
  Groups(const Timeline& timeline, const std::vector<std::string>& modules);

  /// Every tensor alive at the moment but what is paged, largest first.
  std::vector<LiveGroup> at(const Moment& moment) { return grouped(of_peaks(lifetimes_.alive_at(moment))); }
  /// The same of one bucket.
  std::vector<LiveGroup> at(const Moment& moment, Bucket bucket);
  /// Whatever is allocated in the run but what is paged.
  std::vector<LiveGroup> all() { return grouped(handed_out(lifetimes_.ever_alive())); }

 private:
  /// Storages that differ in nothing but their layer are of one kind.
  struct SameKind {
    const Recorder* recorder = nullptr;
    std::size_t operator()(StorageId id) const;
    bool operator()(StorageId a, StorageId b) const;
  };

  /// Those of the caching allocator, which has nothing of a tensor without elements.
  std::vector<Live> handed_out(std::vector<Live> alive) const;
  /// Of them the tensors: kernels' own are of no peak.
  std::vector<Live> of_peaks(std::vector<Live> alive) const;
  std::vector<LiveGroup> grouped(const std::vector<Live>& alive);
  std::int32_t kind(StorageId id);
  LiveGroup group_of(const Live& live) const;

  const Recorder& recorder_;
  const std::vector<std::string>& modules_;
  Lifetimes lifetimes_;
  std::unordered_map<StorageId, std::int32_t, SameKind, SameKind> kinds_;  ///< By the first seen of each.
  std::vector<std::int32_t> kind_of_;  ///< Each storage's once seen, before that -1.
};

}  // namespace oomplan::estimator
