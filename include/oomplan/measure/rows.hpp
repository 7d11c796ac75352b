// The rows of a dataset, batch after batch, for a program that is more than a reader: as values or as hashes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/measure/measure.hpp"
#include "oomplan/measure/values.hpp"

namespace oomplan::measure {

/// The files that paths name, in the order in which their rows come: as they are, below directories, by globs.
/// Errors: measure/no-data, read/missing, read/unreadable.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths);

/// The name that ReadOptions::format has for what is in the file; "" where that is of no known kind. Errors: read/*.
Result<std::string> format_of(const std::string& path);

/// The 128 bits by which rows are told apart (docs/data.md).
struct RowHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

/// Reads one batch at a time. `options.budget` is what reading may take beside what the process holds when it begins,
/// and malloc stays as it is. One thread at a time.
class RowReader {
 public:
  /// Rows as values. Half of the budget is left for what they become. Errors: measure/small-budget, those of stream at
  /// the first batch.
  static Result<RowReader> of_values(const std::vector<std::string>& paths, const ReadOptions& options);
  /// Rows as hashes of their canonical form, or of these columns of it: the same rows as of_values has, with as much
  /// memory for each.
  static Result<RowReader> of_hashes(const std::vector<std::string>& paths, const ReadOptions& options,
                                     std::vector<std::string> key);
  RowReader(RowReader&&) noexcept;
  RowReader& operator=(RowReader&&) noexcept;
  ~RowReader();

  /// Reads the next batch, of at least one row; false where there is none. After an error there is nothing more to
  /// read.
  Result<bool> next();
  /// Of the batch that was read last, which holds until the next call.
  std::int64_t rows() const;
  /// Of a reader of values: an object with the row's fields, null ones too.
  void tell(std::int64_t row, Values& values) const;
  /// Of a reader of hashes, one a row:
  std::vector<RowHash> hashes() const;
  const std::vector<std::int64_t>& sizes() const;  ///< decoded bytes.

  const ReadTotals& totals() const;
  /// Columns of the key that no row had so far.
  std::vector<std::string> unseen_columns() const;

 private:
  struct Reading;
  explicit RowReader(std::unique_ptr<Reading> reading);
  std::unique_ptr<Reading> reading_;
};

/// Texts by their hashes, at 16 to 20 bytes each.
class SeenTexts {
 public:
  SeenTexts();
  SeenTexts(const SeenTexts&) = delete;
  SeenTexts& operator=(const SeenTexts&) = delete;
  ~SeenTexts();
  /// Whether it is new. Texts of another `kind` are other texts. Throws std::bad_alloc.
  bool insert(std::string_view bytes, std::uint8_t kind);

 private:
  struct Set;
  std::unique_ptr<Set> set_;
};

}  // namespace oomplan::measure
