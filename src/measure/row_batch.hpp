// Rows on their way from a source.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "canonical_rows.hpp"

namespace arrow {
class RecordBatch;
}

namespace oomplan::measure {

/// Byte strings one after another in one block.
class Texts {
 public:
  ByteBuffer& open() { return bytes_; }             ///< Append the next one here,
  void close() { ends_.push_back(bytes_.size()); }  ///< and then say that it is whole.
  void add(std::string_view text) {
    bytes_.put(text);
    close();
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return bytes_.view(begin).substr(0, ends_[i] - begin);
  }
  void clear() {
    bytes_.cut(0);
    ends_.clear();
  }

 private:
  ByteBuffer bytes_{};
  std::vector<std::size_t> ends_{};
};

/// What is to be known of each row, beside that it is there.
struct Wanted {
  bool sizes = false;
  bool canonical = false;
  bool text = false;
  bool values = false;
  bool as_hashed = false;  ///< No more, but the same rows as where their hashes are wanted.
  bool objects = false;    ///< A row of JSON that has no columns is a bad one, as it is where values are wanted.
  bool contents() const { return canonical || values || as_hashed; }  ///< Whether what is in a row is looked at.
};

struct RowBatch {
  explicit RowBatch(CanonicalRows::Keep keep = CanonicalRows::Keep::bytes) : canonical(keep) {}
  std::int64_t rows = 0;
  std::int64_t decoded = 0;           ///< Bytes of their values.
  std::vector<std::int64_t> sizes{};  ///< The same for each row, where wanted.
  CanonicalRows canonical;            ///< Each row (or its key) in the canonical form, where wanted.
  Texts text{};                       ///< Each row as it stands, of JSON Lines and arrays, where wanted.
  Texts values{};                     ///< Each row as ValueBytes writes it, where wanted and not in columns.
  std::shared_ptr<arrow::RecordBatch> columns{};  ///< The rows, of Parquet and Arrow.

  void clear() {
    rows = decoded = 0;
    sizes.clear();
    canonical.clear();
    text.clear();
    values.clear();
    columns.reset();
  }
  /// What it may be compared with room.batch by: a row takes memory even where it has no bytes.
  std::int64_t weight() const { return std::max(decoded + 32 * rows, static_cast<std::int64_t>(canonical.bytes())); }
  void add_row(std::int64_t bytes, const Wanted& wanted) {
    ++rows;
    decoded += bytes;
    if (wanted.sizes) sizes.push_back(bytes);
  }
};

}  // namespace oomplan::measure
