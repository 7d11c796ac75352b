// Records that wait on the disk, in a file without a name: it is gone with the process, however that ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::measure {

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

/// Records in the order in which they were added, so many bytes of them in memory.
template <class Record, std::size_t buffer_bytes = 16384>
class Spill {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  Result<bool> add(const Record& record, SpillFile& file) { return add(std::span(&record, 1), file); }
  Result<bool> add(std::span<const Record> records, SpillFile& file) {
    size_ += static_cast<std::int64_t>(records.size());
    if (buffer_.capacity() < records_in_buffer) buffer_.reserve(records_in_buffer);
    while (!records.empty()) {
      const std::size_t count = std::min(records.size(), records_in_buffer - buffer_.size());
      buffer_.insert(buffer_.end(), records.begin(), records.begin() + static_cast<std::ptrdiff_t>(count));
      records = records.subspan(count);
      if (buffer_.size() < records_in_buffer) break;
      const Result<std::int64_t> place = file.write(buffer_.data(), buffer_.size() * sizeof(Record));
      if (!place) return place.errors();
      chunks_.push_back(*place);
      buffer_.clear();
    }
    return true;
  }
  /// As many as `out` takes, from the one numbered `from`; there must be so many.
  Result<bool> read(SpillFile& file, std::size_t from, std::span<Record> out) const {
    while (!out.empty()) {
      const std::size_t chunk = from / records_in_buffer;
      const std::size_t at = from % records_in_buffer;
      const std::size_t count = std::min(out.size(), records_in_buffer - at);
      if (chunk == chunks_.size()) {
        std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
      } else {
        const auto place = chunks_[chunk] + static_cast<std::int64_t>(at * sizeof(Record));
        if (Result<bool> got = file.read(place, out.data(), count * sizeof(Record)); !got) return got;
      }
      from += count;
      out = out.subspan(count);
    }
    return true;
  }
  /// Calls `visit`, which gives a Result<bool>, with all of them in order, some at a time. Nothing can be added
  /// afterwards.
  template <class Visit>
  Result<bool> drain(SpillFile& file, const Visit& visit) {
    const std::vector<Record> last = std::move(buffer_);
    std::vector<Record> chunk(chunks_.empty() ? 0 : records_in_buffer);
    for (const std::int64_t place : chunks_) {
      if (Result<bool> read = file.read(place, chunk.data(), chunk.size() * sizeof(Record)); !read) return read;
      if (Result<bool> visited = visit(std::span<const Record>(chunk)); !visited) return visited;
    }
    return visit(std::span<const Record>(last));
  }
  std::int64_t size() const { return size_; }

 private:
  static constexpr std::size_t records_in_buffer = buffer_bytes / sizeof(Record);
  std::vector<Record> buffer_{};
  std::vector<std::int64_t> chunks_{};  // where each full buffer lies in the file
  std::int64_t size_ = 0;
};

}  // namespace oomplan::measure
