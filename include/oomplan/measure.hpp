// Reading datasets with bounded memory: rows counted, deduplicated, measured.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/bytes.hpp"
#include "oomplan/result.hpp"

namespace oomplan::measure {

struct ReadOptions {
  Bytes budget = Bytes::mib(256);  ///< For the whole process, libraries included.
  std::string format{};            ///< "" tells each file's format by its content.
  bool skip_bad = false;           ///< Rows that cannot be read are left out and told to on_skip, instead of an end.
  std::function<void(const Diagnostic&)> on_skip{};
  std::function<void(std::int64_t rows, std::int64_t decoded)> on_progress{};  ///< Now and then.
};

struct FileTotals {
  std::string path{};
  std::string format{};
  std::int64_t bytes = 0;  ///< As it lies on the disk.
  std::int64_t rows = 0;
  std::optional<std::int64_t> declared_rows{};  ///< By its own metadata.
  std::int64_t decoded = 0;                     ///< Bytes of the rows' values.
  std::int64_t skipped = 0;
  bool broken = false;  ///< Not read to its end.
};

struct ReadTotals {
  std::int64_t files = 0;
  std::int64_t file_bytes = 0;
  std::int64_t rows = 0;
  std::int64_t decoded = 0;
  std::int64_t skipped = 0;
  std::int64_t broken_files = 0;
  std::vector<FileTotals> listed{};  ///< The first thousand.
};

/// What the process took for it, by the kernel's count.
struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
  std::int64_t peak_rss = 0;  ///< VmHWM, bytes.
};

struct StreamReport {
  Bytes budget{};
  ReadTotals totals{};
  Cost cost{};
  Diagnostics diagnostics{};  ///< What stopped it, if something did.
};

/// The names that ReadOptions::format takes.
std::vector<std::string_view> format_names();

/// Reads every row of every file: files, directories and globs. Errors: read/*, measure/*.
StreamReport stream(const std::vector<std::string>& paths, const ReadOptions& options);

struct DedupeOptions {
  ReadOptions read{};
  std::vector<std::string> key{};  ///< Columns; none for the whole row.
  std::string output{};            ///< A dataset with the rows kept: .jsonl, .jsonl.zst or .parquet; "" for none.
  std::string indices{};           ///< A text file with their numbers, from 0; "" for none.
  std::string tmp{};               ///< Where hashes go that the budget does not hold; "" is $TMPDIR or /var/tmp.
};

struct DedupeReport {
  Bytes budget{};
  ReadTotals totals{};
  Cost cost{};
  std::int64_t unique = 0;
  std::int64_t duplicates = 0;
  std::int64_t table_bytes = 0;    ///< The most that the tables of hashes held.
  std::int64_t spilled_bytes = 0;  ///< Written to the disk in between.
  double false_duplicate = 0;      ///< The chance that any two of the different rows had one hash.
  Diagnostics diagnostics{};       ///< What stopped it; the counts mean nothing then.
};

/// Keeps the first of rows that are equal, by the 128-bit hash of their canonical form (docs/data.md). Outputs appear
/// whole or not at all. Errors: those of stream; measure/unknown-column, measure/output-exists, measure/output-kind,
/// measure/cannot-write, measure/changed, measure/not-text.
DedupeReport dedupe(const std::vector<std::string>& paths, const DedupeOptions& options);

}  // namespace oomplan::measure
