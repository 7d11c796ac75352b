// Numbers of rows, at a bit each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace oomplan::measure {

class RowSet {
 public:
  void insert(std::int64_t row) {
    const std::size_t block = static_cast<std::size_t>(row) / rows_in_block;
    if (block >= blocks_.size()) blocks_.resize(block + 1);
    if (!blocks_[block]) blocks_[block] = std::make_unique<Block>();
    std::uint64_t& word = (*blocks_[block])[static_cast<std::size_t>(row) % rows_in_block / 64];
    const std::uint64_t bit = std::uint64_t{1} << (row % 64);
    size_ += (word & bit) == 0 ? 1 : 0;
    word |= bit;
  }
  void erase(std::int64_t row) {
    if (!contains(row)) return;
    (*blocks_[static_cast<std::size_t>(row) / rows_in_block])[static_cast<std::size_t>(row) % rows_in_block / 64] &=
        ~(std::uint64_t{1} << (row % 64));
    --size_;
  }
  bool contains(std::int64_t row) const {
    const std::size_t block = static_cast<std::size_t>(row) / rows_in_block;
    if (block >= blocks_.size() || !blocks_[block]) return false;
    return ((*blocks_[block])[static_cast<std::size_t>(row) % rows_in_block / 64] >> (row % 64) & 1) != 0;
  }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(blocks_.size() * sizeof(Block)); }

 private:
  static constexpr std::size_t rows_in_block = std::size_t{1} << 19;
  using Block = std::array<std::uint64_t, rows_in_block / 64>;
  std::vector<std::unique_ptr<Block>> blocks_{};
  std::int64_t size_ = 0;
};

}  // namespace oomplan::measure
