// Reading datasets with bounded memory: rows counted, deduplicated, measured.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan::measure {

struct ReadOptions {
  Bytes budget = Bytes::mib(256);  ///< For the whole process, libraries included.
  std::string format{};            ///< "" tells each file's format by its content.
  bool row_sizes = false;          ///< Of stream: also how long rows are.
  int threads = 0;                 ///< At most so many; 0 for one a core.
  bool tokens = false;             ///< Of stream: also what the rows' text and lists of tokens have.
  std::int64_t sample = 0;         ///< Of stream: so many draws of blocks instead of everything; 0 reads everything.
  std::uint64_t seed = 1;          ///< Of the draws.
  bool skip_bad = false;           ///< Rows that cannot be read are left out and told to on_skip, instead of an end.
  std::function<void(const Diagnostic&)> on_skip{};
  std::function<void(std::int64_t rows, std::int64_t decoded)> on_progress{};  ///< Now and then.
  std::function<void(double share)> on_share{};  ///< How much of the files was read, from 0 to 1, by who reads them.
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

/// Decoded bytes of a row; 0 without rows.
struct RowSizes {
  double mean = 0;
  std::int64_t p50 = 0;  ///< Within 1 %, as p99.
  std::int64_t p99 = 0;
  std::int64_t longest = 0;
};

/// A column's text, or its lists of whole numbers, which are tokens where the column holds such.
struct TokenColumn {
  std::string name{};
  bool text = false;
  std::int64_t rows = 0;  ///< That have it: text somewhere in it, or a list.
  RowSizes bytes{};       ///< Of the text; 0 of lists.
  RowSizes pieces{};      ///< Of the text as GPT-2's tokenizer cuts it first (docs/data.md); the lengths of lists.
};

struct Tokens {
  std::vector<TokenColumn> columns{};
  std::int64_t values_left_out = 0;  ///< Of columns beyond the first 64, or with names beyond 256 bytes.
  RowSizes text_bytes{};             ///< Of all text of a row.
  RowSizes text_pieces{};
};

/// What the whole is, by a part of it, with the ends of the 95 % interval.
struct Estimate {
  double value = 0;
  double low = 0;
  std::optional<double> high{};  ///< Nothing where the part does not bound it.
};

/// Blocks of a dataset (row groups of Parquet, a mebibyte of lines, or whole files) drawn with a chance by their bytes,
/// each as often as it comes.
struct Sampled {
  std::int64_t draws = 0;  ///< 0 where there were so few blocks that all were read.
  std::int64_t blocks = 0;
  std::int64_t of_blocks = 0;
  std::uint64_t seed = 0;
  bool rows_known = false;  ///< The files say how many rows they have.
  Estimate rows{};
  Estimate decoded{};
  Estimate mean{};  ///< Decoded bytes of a row,
  Estimate p50{};   ///< as these.
  Estimate p99{};
};

struct StreamReport {
  Bytes budget{};
  std::optional<RowSizes> row_sizes{};  ///< Where they were asked for; of a sample its estimates, and the longest seen.
  std::optional<Tokens> tokens{};       ///< Where they were asked for.
  std::optional<Sampled> sampled{};     ///< Where a sample was asked for.
  ReadTotals totals{};                  ///< What was read.
  Cost cost{};
  Diagnostics diagnostics{};  ///< What stopped it, if something did.
};

/// The names that ReadOptions::format takes.
std::vector<std::string_view> format_names();

/// Reads every row of every file: files, directories and globs; or a sample of them. Errors: read/*, measure/*.
StreamReport stream(const std::vector<std::string>& paths, const ReadOptions& options);

/// A process with all its children, by the kernel's counts, in bytes.
struct TreeMemory {
  std::int64_t peak_rss = 0;   ///< VmHWM of the process that had most: exact, from its end.
  std::int64_t looks = 0;      ///< So many looks saw it; what follows but cgroups is not known where none did.
  std::int64_t pss = 0;        ///< The most that all held together at a look, what they share counted once;
  std::int64_t anonymous = 0;  ///< of it what is no file's and not shared by name,
  std::int64_t shared = 0;     ///< and shared memory that was touched.
  std::int64_t dev_shm = 0;    ///< The most that /dev/shm grew by, touched or not, whoever wrote there.
  bool own_cgroup = false;     ///< The cgroup below is these processes' alone, and its peak exact.
  std::optional<std::int64_t> cgroup_peak{};  ///< Of all that is in the cgroup, page cache included.
  std::optional<std::int64_t> page_cache{};   ///< Of all that is in the cgroup, at the end.
  std::int64_t processes = 1;                 ///< The most at one look.
};

struct Watched {
  int exit = 0;  ///< 128 and the signal's number where it died of one.
  double seconds = 0;
  double cpu_seconds = 0;
  TreeMemory memory{};
  std::string out{};  ///< Of its standard output, where that is kept: the first 16 MiB.
};

/// Runs a program with these words, in a cgroup of its own where one may be made, and looks at it and its children
/// every 20 ms. Standard output is kept, or passed to standard error. Signals that would end this process go to the
/// program. Error: measure/cannot-run.
Result<Watched> watch(const std::vector<std::string>& words, bool keep_output);

struct DedupeOptions {
  ReadOptions read{};
  std::vector<std::string> key{};  ///< Columns; none for the whole row.
  std::string output{};            ///< A dataset with the rows kept: .jsonl, .jsonl.zst or .parquet; "" for none.
  std::string indices{};           ///< A text file with their numbers, from 0; "" for none.
  bool verify = false;             ///< Also compare the bytes of rows of one hash, in one more reading.
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
  bool verified = false;           ///< The duplicates' bytes were compared:
  std::int64_t restored = 0;       ///< so many rows shared only the hash of one before them, and are no duplicates.
  double false_duplicate = 0;      ///< The chance that any two of the different rows had one hash.
  Diagnostics diagnostics{};       ///< What stopped it; the counts mean nothing then.
};

/// Keeps the first of rows that are equal, by the 128-bit hash of their canonical form (docs/data.md). Outputs appear
/// whole or not at all. Errors: those of stream; measure/unknown-column, measure/output-exists, measure/output-kind,
/// measure/cannot-write, measure/changed, measure/not-text.
DedupeReport dedupe(const std::vector<std::string>& paths, const DedupeOptions& options);

}  // namespace oomplan::measure
