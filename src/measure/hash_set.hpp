// A set of hashes at 16 bytes each and between a tenth and a third more.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hash.hpp"

namespace oomplan::measure {

/// Open addressing by cache lines: a hash stands in the line that its first bits name, or where that is full in one
/// behind it. The lines keep the order of the bits, so that growing is one sweep, from the end, in place: the table is
/// never there twice. It grows by a quarter at 94 %, which is 17 to 21.3 bytes a hash; where many sets grow at
/// different sizes, they are 19.1 together.
class HashSet {
 public:
  /// All hashes in it agree in their first `shared_bits` (< 64). `phase`, from 0 to 1, sets when it grows.
  explicit HashSet(int shared_bits, double phase = 0);
  HashSet(const HashSet&) = delete;
  HashSet& operator=(const HashSet&) = delete;
  HashSet(HashSet&& other) noexcept
      : shift_(other.shift_),
        first_lines_(other.first_lines_),
        lines_(std::exchange(other.lines_, nullptr)),
        homes_(std::exchange(other.homes_, 0)),
        total_(std::exchange(other.total_, 0)),
        size_(std::exchange(other.size_, 0)),
        most_(std::exchange(other.most_, 0)) {}
  ~HashSet() { clear(); }

  /// Whether it is new. Throws std::bad_alloc where the system has no memory.
  bool insert(Hash hash) {
    if (size_ >= most_) grow();
    for (std::size_t at = home(hash);; ++at) {
      if (at == total_) extend();
      Line& line = lines_[at];
      if (line.holds(hash)) return false;
      const std::size_t filled = line.filled();
      if (filled == 4) continue;
      line.hashes[filled] = hash;
      ++size_;
      return true;
    }
  }
  /// Of a set that is empty: makes place for so many.
  void reserve(std::size_t count);
  /// Asks for the place in memory, for an insert that follows soon.
  void prefetch(Hash hash) const {
    if (lines_ != nullptr) __builtin_prefetch(lines_ + home(hash), 1);
  }
  std::size_t size() const { return size_; }
  /// What it holds of the system.
  std::int64_t bytes() const;
  void clear();

  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < total_; ++i) {
      for (const Hash& hash : lines_[i].hashes) {
        if (hash.high != 0) visit(hash);
      }
    }
  }

 private:
  struct Line {
    std::array<Hash, 4> hashes{};  // filled from its front

    // Neither branches on a place: where in a line a hash stands cannot be foretold.
    std::size_t filled() const {
      std::size_t count = 0;
      for (const Hash& here : hashes) count += std::size_t{here.high != 0};
      return count;
    }
    bool holds(Hash hash) const {
      std::uint64_t alike = 0;  // half of their bits
      for (const Hash& here : hashes) alike |= std::uint64_t{here.high == hash.high};
      return alike != 0 && std::ranges::find(hashes, hash) != hashes.end();
    }
  };

  std::size_t home(Hash hash) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(hash.high << shift_) * homes_ >> 64);
  }
  void grow() { spread(homes_ == 0 ? first_lines_ : homes_ + homes_ / 4 + 1); }
  void spread(std::size_t homes);
  void place(Hash hash, std::vector<std::uint8_t>& filled);
  void extend() { resize(total_ + total_ / 8 + 1); }
  void resize(std::size_t total);

  int shift_;
  std::size_t first_lines_;
  Line* lines_ = nullptr;
  std::size_t homes_ = 0;  // lines that hashes name
  std::size_t total_ = 0;  // with those behind for the last ones' overflow
  std::size_t size_ = 0;
  std::size_t most_ = 0;  // hashes, before it grows
};

}  // namespace oomplan::measure
