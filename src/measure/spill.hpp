// Hashes that wait on the disk, in a file without a name: it is gone with the process, however that ends.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hash.hpp"
#include "oomplan/result.hpp"

namespace oomplan::measure {

struct HashedRow {
  Hash hash{};
  std::int64_t row = 0;
};

class SpillFile;

/// Rows in the order in which they were added, 16 KiB of them in memory.
class Spill {
 public:
  Result<bool> add(const HashedRow& row, SpillFile& file);
  /// Calls `visit` with all of them in order, some at a time. Nothing can be added afterwards.
  Result<bool> drain(SpillFile& file, const std::function<Result<bool>(std::span<const HashedRow>)>& visit);
  std::int64_t size() const { return size_; }

 private:
  std::vector<HashedRow> buffer_{};
  std::vector<std::int64_t> chunks_{};  // where each full buffer lies in the file
  std::int64_t size_ = 0;
};

class SpillFile {
 public:
  /// Made in this directory with the first byte.
  explicit SpillFile(std::string directory) : directory_(std::move(directory)) {}
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();
  /// Where it came to lie. Error: measure/cannot-write.
  Result<std::int64_t> write(const void* bytes, std::size_t count);
  Result<bool> read(std::int64_t offset, void* bytes, std::size_t count);
  std::int64_t bytes() const { return end_; }

 private:
  std::string directory_;
  int descriptor_ = -1;
  std::int64_t end_ = 0;
};

}  // namespace oomplan::measure
