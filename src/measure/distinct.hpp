// Which of many rows came before: exact by hash, in memory as long as that lasts, and then on the disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hash_filter.hpp"
#include "hash_set.hpp"
#include "oomplan/core/result.hpp"
#include "room.hpp"
#include "row_set.hpp"
#include "spill.hpp"

namespace oomplan::measure {

struct HashedRow {
  Hash hash{};
  std::int64_t row = 0;
};

/// The hashes are kept in 256 parts by their first bits. Where the tables grow past `room.table`, part after part is
/// moved to the disk, what comes for it follows there, and it is settled at the end, by itself.
class Distinct {
 public:
  Distinct(const Room& room, std::string tmp);
  /// Tells this filter of the hash of each duplicate, from now on.
  void tell(HashFilter& filter) { filter_ = &filter; }
  /// The next rows. Errors: measure/cannot-write, measure/over-budget.
  Result<bool> add(std::span<const Hash> hashes);
  /// After the last row: settles what is on the disk.
  Result<bool> finish();
  /// The rows that equal an earlier one; whole after finish().
  RowSet& duplicates() { return duplicates_; }
  std::int64_t most_table_bytes() const { return most_table_bytes_; }
  std::int64_t spilled_bytes() const { return file_.bytes(); }

 private:
  struct Part {
    HashSet set;
    Spill<HashedRow> spill{};
    bool on_disk = false;
  };
  Result<bool> flush();
  void insert(HashSet& set, std::span<const HashedRow> rows);
  Result<bool> to_disk(Part& part, std::span<const HashedRow> rows);
  Result<bool> make_room();
  Result<bool> move_to_disk(Part& part);
  Result<bool> settle(Spill<HashedRow> spill, int shared_bits);
  Result<bool> split(Spill<HashedRow> spill, int shared_bits);
  Result<bool> check_duplicates() const;

  Room room_;
  SpillFile file_;
  std::vector<Part> parts_{};
  std::size_t most_waiting_ = 0;
  std::vector<Hash> waiting_{};
  std::vector<HashedRow> sorted_{};  // those that waited, by part
  RowSet duplicates_{};
  HashFilter* filter_ = nullptr;
  std::int64_t table_bytes_ = 0;
  std::int64_t most_table_bytes_ = 0;
  std::size_t in_memory_;
  std::int64_t rows_ = 0;  // before those that wait
};

}  // namespace oomplan::measure
