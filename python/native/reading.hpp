// Reading for a Python program: without the interpreter's lock, and with warnings for what is skipped.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "columns.hpp"
#include "oomplan/measure/rows.hpp"

namespace oomplan::python {

/// Sets `busy` while it lives. Throws RuntimeError where it is set: another thread is in the same reader, without the
/// lock.
class Alone {
 public:
  explicit Alone(std::atomic<bool>& busy);
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
  ~Alone() { busy_ = false; }

 private:
  std::atomic<bool>& busy_;
};

/// What both readers are made of.
struct Settings {
  std::vector<std::string> paths{};
  std::string format{};
  std::string budget{};  ///< "256MiB"
  bool skip_bad = false;
};

class Reading {
 public:
  /// Reads hashes of these columns, or else values. Throws DataError.
  Reading(const Settings& settings, const std::optional<std::vector<std::string>>& key);
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  /// As RowReader::next, without the lock. Throws what handlers of signals and of warnings throw.
  Result<bool> next();
  const measure::RowReader& rows() const { return *rows_; }
  Bytes budget() const { return budget_; }

 private:
  void tell_skipped();

  std::vector<Diagnostic> skipped_{};  // since they were told last, the first of them,
  std::int64_t more_skipped_ = 0;      // and how many others
  Bytes budget_{};
  std::optional<measure::RowReader> rows_{};
};

/// Rows as dicts of lists.
class ValueReader {
 public:
  explicit ValueReader(const Settings& settings) : reading_(settings, std::nullopt) {}
  /// The next `count` rows, or as many as there are or as the budget holds as objects; None at the end.
  nb::object next(std::int64_t count);
  std::int64_t rows() const { return read_; }  ///< Handed on so far.
  std::int64_t skipped() const { return reading_.rows().totals().skipped; }

 private:
  bool add(Columns& columns);
  Result<bool> fill(Columns& columns, std::int64_t count);

  std::atomic<bool> busy_{false};
  Reading reading_;
  Names names_{};
  std::int64_t row_ = 0;  // of the batch that was read last
  std::int64_t read_ = 0;
  Diagnostics errors_{};  // to raise once the rows before are handed on; no exception, which would hold its frames
};

/// Rows as hashes and sizes.
class HashReader {
 public:
  HashReader(const Settings& settings, const std::vector<std::string>& key) : reading_(settings, key) {}
  /// 16 bytes a row, as a big-endian number of 128 bits, and 8 bytes a row, its decoded size; None at the end.
  nb::object next();
  std::vector<std::string> unseen_columns() const { return reading_.rows().unseen_columns(); }
  std::int64_t skipped() const { return reading_.rows().totals().skipped; }

 private:
  std::atomic<bool> busy_{false};
  Reading reading_;
};

}  // namespace oomplan::python
