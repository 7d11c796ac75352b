// An allocator driven by hand, and what it says.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan::example {

inline constexpr std::int64_t kib = 1024;
inline constexpr std::int64_t mib = 1024 * kib;
inline constexpr std::int64_t gib = 1024 * mib;

inline AllocatorSettings settings(const std::string& conf) {
  const auto read = parse_alloc_conf(conf, "conf");
  if (!read) throw std::runtime_error(to_text(read.errors().front()));
  return *read;
}

class Sheet {
 public:
  explicit Sheet(const std::string& conf = "", const Card& card = {}) : allocator_(settings(conf), card) {}

  /// The slot of a new allocation.
  std::uint32_t take(std::int64_t bytes) {
    if (!allocator_.allocate(next_, Bytes(bytes))) throw std::runtime_error("out of memory");
    return next_++;
  }
  bool fits(std::int64_t bytes) { return allocator_.allocate(next_++, Bytes(bytes)); }
  void free(std::uint32_t slot) { allocator_.free(slot); }
  void empty_cache() { allocator_.empty_cache(); }

  std::int64_t allocated() const { return statistics().allocated.count(); }
  std::int64_t reserved() const { return statistics().reserved.count(); }
  std::int64_t fragmented() const { return statistics().fragmented.count(); }
  const AllocatorStatistics& statistics() const { return allocator_.statistics(); }
  const OutOfMemory& failure() const { return allocator_.out_of_memory().value(); }
  Allocator& allocator() { return allocator_; }

  /// What a request costs in reserved bytes: 0 where a free block served it.
  std::int64_t reserves(std::int64_t bytes) {
    const std::int64_t before = reserved();
    take(bytes);
    return reserved() - before;
  }

 private:
  Allocator allocator_;
  std::uint32_t next_ = 0;
};

}  // namespace oomplan::example
