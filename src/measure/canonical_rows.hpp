// The canonical forms of a batch of rows, or only their hashes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "byte_buffer.hpp"
#include "hash.hpp"

namespace oomplan::measure {

class CanonicalRows {
 public:
  enum class Keep : std::uint8_t { bytes, hashes };
  explicit CanonicalRows(Keep keep) : keep_(keep) {}

  ByteBuffer& open() { return bytes_; }  ///< Append the next row here,
  void close() {                         ///< and then say that it is whole.
    ends_.push_back(bytes_.size());
    if (keep_ == Keep::hashes && bytes_.size() >= hashed_together) hash_waiting();
  }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return bytes_.view(begin).substr(0, ends_[i] - begin);
  }
  std::size_t bytes() const { return bytes_.size(); }
  std::size_t size() const { return ends_.size(); }  ///< Of those whose bytes are kept.
  const std::vector<Hash>& hashes() {
    hash_waiting();
    return hashes_;
  }
  void clear() {
    bytes_.cut(0);
    ends_.clear();
    hashes_.clear();
  }

 private:
  // Bytes that were only just written are slow to read in other pieces than they were written in.
  static constexpr std::size_t hashed_together = std::size_t{16} << 10;

  void hash_waiting() {
    for (std::size_t i = 0; i < ends_.size(); ++i) hashes_.push_back(hash_of((*this)[i]));
    ends_.clear();
    bytes_.cut(0);
  }

  Keep keep_;
  ByteBuffer bytes_{};
  std::vector<std::size_t> ends_{};
  std::vector<Hash> hashes_{};
};

}  // namespace oomplan::measure
