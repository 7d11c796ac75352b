// A set of hashes at 16 bytes each and between an eighth and a quarter more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "hash.hpp"

namespace oomplan::measure {

/// Open addressing with the hashes in order: a hash stands at the place that its bits name, or behind smaller ones that
/// came there. So a look-up ends at the first larger one, which makes a table that is nine tenths full quick, and
/// growing is one sweep over memory. The table grows in place, page by page, and by a ninth: it is never there twice.
class HashSet {
 public:
  /// All hashes in it agree in their first `shared_bits` (< 64).
  explicit HashSet(int shared_bits) : shift_(shared_bits) {}
  HashSet(const HashSet&) = delete;
  HashSet& operator=(const HashSet&) = delete;
  HashSet(HashSet&& other) noexcept
      : shift_(other.shift_),
        slots_(std::exchange(other.slots_, nullptr)),
        homes_(std::exchange(other.homes_, 0)),
        total_(std::exchange(other.total_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  ~HashSet() { clear(); }

  /// Whether it is new. Throws std::bad_alloc where the system has no memory.
  bool insert(Hash hash);
  /// Asks for the place in memory, for an insert that follows soon.
  void prefetch(Hash hash) const {
    if (slots_ != nullptr) __builtin_prefetch(slots_ + home(hash, homes_), 1);
  }
  std::size_t size() const { return size_; }
  /// What it holds of the system.
  std::int64_t bytes() const;
  void clear();

  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < total_; ++i) {
      if (slots_[i].high != 0) visit(slots_[i]);
    }
  }

 private:
  std::size_t home(Hash hash, std::size_t homes) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(hash.high << shift_) * homes >> 64);
  }
  void grow(std::size_t homes);
  void resize(std::size_t total);
  bool spread(std::size_t homes);

  int shift_;
  Hash* slots_ = nullptr;
  std::size_t homes_ = 0;  // places that hashes name
  std::size_t total_ = 0;  // with those behind for the last ones' overflow
  std::size_t size_ = 0;
};

}  // namespace oomplan::measure
