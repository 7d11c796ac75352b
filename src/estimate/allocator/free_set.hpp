// The free blocks of a pool in order of size, then address: what best fit searches.
//
// Sizes fall into classes, sixteen to each power of two, and a bitmap says which classes are not empty, so that the
// next larger block is found without a walk. Inside a class the blocks stand in falling order, so that the lowest,
// which best fit mostly takes, comes and goes at the end; in chunks, so that a hundred thousand of one size stay quick.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "block.hpp"

namespace oomplan::allocator {

struct Free {
  std::int64_t size = 0;
  std::uint64_t address = 0;
  Index block = none;

  friend bool operator<(const Free& a, const Free& b) {
    return a.size != b.size ? a.size < b.size : a.address < b.address;
  }
};

class FreeSet {
 public:
  /// A place in the order; valid until the set changes.
  struct Cursor {
    std::size_t bin = bins;
    std::size_t chunk = 0;
    std::size_t at = 0;
    explicit operator bool() const { return bin < bins; }
  };

  FreeSet() : table_(bins) {}

  void insert(const Free& entry);
  void erase(const Free& entry);
  void erase(const Cursor& cursor);
  /// The first that is at least `size` large.
  Cursor at_least(std::int64_t size) const;
  Cursor after(Cursor cursor) const;
  const Free& operator[](const Cursor& cursor) const { return table_[cursor.bin][cursor.chunk][cursor.at]; }
  /// All that are at least `size` large, in order.
  std::vector<Free> list(std::int64_t size = 0) const;
  void clear();

 private:
  using Chunk = std::vector<Free>;
  using Bin = std::vector<Chunk>;
  static constexpr std::size_t bins = 832;

  static std::size_t bin_of(std::int64_t size);
  static Cursor behind(const Bin& bin, std::size_t number, const Free& key);
  Cursor lowest(std::size_t bin) const;
  Cursor lowest_from(std::size_t bin) const;

  std::vector<Bin> table_;
  std::array<std::uint64_t, bins / 64> filled_{};
};

}  // namespace oomplan::allocator
