// Whether rows of one hash are one row: their bytes, compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hash.hpp"
#include "oomplan/core/result.hpp"
#include "room.hpp"
#include "row_set.hpp"
#include "spill.hpp"

namespace oomplan::measure {

/// Rows wait on the disk until all are there, and are compared with the first of their hash, or with the first of those
/// that differ from it.
class Verify {
 public:
  /// Rows in `duplicates` that equal none before them are taken out of it.
  Verify(const Room& room, std::string tmp, RowSet& duplicates);
  /// Rows in order, with their canonical form: all whose hash a duplicate has, and others. Error: measure/cannot-write.
  Result<bool> add(Hash hash, std::int64_t row, std::string_view canonical);
  /// Error: measure/over-budget.
  Result<bool> finish();
  /// Rows taken out of `duplicates`.
  std::int64_t restored() const { return restored_; }
  std::int64_t spilled_bytes() const { return file_.bytes(); }

 private:
  struct Record {
    Hash hash{};
    std::int64_t row = 0;
    std::size_t begin = 0;  // of its canonical form, in the part's bytes
    std::size_t length = 0;
  };
  struct Part {
    Spill<Record, 4096> records{};
    Spill<char, 4096> bytes{};
  };
  Result<bool> compare(Part& part);
  Result<bool> equal(const Part& part, const Record& a, const Record& b);

  Room room_;
  RowSet& duplicates_;
  SpillFile file_;
  std::vector<Part> parts_;
  std::string here_{};  // a part's bytes, where they fit
  std::int64_t restored_ = 0;
};

}  // namespace oomplan::measure
