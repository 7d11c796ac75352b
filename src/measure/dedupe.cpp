// The first reading finds the duplicates. Each output is written in one more, and so are bytes compared.
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "cost.hpp"
#include "distinct.hpp"
#include "first_reading.hpp"
#include "oomplan/measure/measure.hpp"
#include "row_stream.hpp"
#include "row_writer.hpp"
#include "verify.hpp"

namespace oomplan::measure {
namespace {

std::string temporary_directory(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const char* from_shell = std::getenv("TMPDIR");
  return from_shell != nullptr && *from_shell != '\0' ? from_shell : "/var/tmp";
}

Diagnostics unknown_columns(const KeyColumns& key) {
  Diagnostics out;
  for (const std::string& name : key.unseen()) {
    out.push_back({.code = "measure/unknown-column", .message = "no row has the column '" + name + "'"});
  }
  return out;
}

Diagnostic changed() {
  return {.code = "measure/changed", .message = "the inputs had other rows the second time they were read"};
}

/// All rows whose hash a duplicate may have, with their bytes.
Diagnostics compare_bytes(RowStream& rows, const HashFilter& filter, Verify& verify, std::int64_t expected) {
  RowBatch batch;
  std::int64_t row = 0;
  while (true) {
    const Result<bool> more = rows.next(batch);
    if (!more) return more.errors();
    if (!*more) break;
    for (std::int64_t i = 0; i < batch.rows; ++i, ++row) {
      const std::string_view canonical = batch.canonical[static_cast<std::size_t>(i)];
      const Hash hash = hash_of(canonical);
      if (!filter.may_hold(hash)) continue;
      if (Result<bool> added = verify.add(hash, row, canonical); !added) return added.errors();
    }
  }
  if (row != expected) return {changed()};
  const Result<bool> finished = verify.finish();
  return finished ? Diagnostics{} : finished.errors();
}

Diagnostics write_rows(RowStream& rows, RowWriter& writer, const RowSet& duplicates, std::int64_t expected) {
  RowBatch batch;
  std::int64_t row = 0;
  while (true) {
    const Result<bool> more = rows.next(batch);
    if (!more) return more.errors();
    if (!*more) break;
    if (Result<bool> written = writer.write(batch, row, duplicates); !written) return written.errors();
    row += batch.rows;
  }
  if (row != expected) return {changed()};
  const Result<bool> finished = writer.finish();
  return finished ? Diagnostics{} : finished.errors();
}

/// The same files, unless they changed.
Result<std::vector<Shard>> again(const std::vector<std::string>& paths, const std::vector<Shard>& before,
                                 const Room& room) {
  Result<std::vector<Shard>> now = shards_of(paths, room.free / 8);
  if (!now || *now == before) return now;
  return Diagnostic{.code = "measure/changed", .message = "the inputs changed while they were read"};
}

class Dedupe {
 public:
  Dedupe(const std::vector<std::string>& paths, const DedupeOptions& options, const Room& room)
      : paths_(paths), options_(options), room_(room), reading_(beside_table(room)) {}

  Diagnostics run(DedupeReport& report) {
    Result<std::vector<Shard>> shards = shards_of(paths_, room_.free / 8);
    if (!shards) return shards.errors();
    if (Diagnostics errors = open_outputs(*shards); !errors.empty()) return errors;
    FirstReading first(*shards, options_.read, reading_, KeyColumns(options_.key));
    HashFilter filter(options_.verify ? room_.free / 32 : 8);
    std::optional<Distinct> found;
    Diagnostics errors = first.find_duplicates(found, [&] {
      found.emplace(room_, temporary_directory(options_.tmp));
      if (options_.verify) found->tell(filter);
    });
    Distinct& distinct = *found;
    report.totals = first.totals();
    if (errors.empty() && options_.verify) errors = verify(*shards, filter, distinct.duplicates(), report);
    report.duplicates = distinct.duplicates().size();
    report.unique = report.totals.rows - report.duplicates;
    report.table_bytes = distinct.most_table_bytes();
    report.spilled_bytes += distinct.spilled_bytes();
    const auto unique = static_cast<double>(report.unique);
    report.false_duplicate = std::ldexp(unique * std::max(unique - 1, 0.0) / 2, -128);
    if (errors.empty()) errors = unknown_columns(first.key());
    return errors.empty() ? write(*shards, distinct.duplicates(), report.totals.rows) : errors;
  }

 private:
  /// Before anything is read: what cannot be written is said at once.
  Diagnostics open_outputs(const std::vector<Shard>& shards) {
    Diagnostics errors;
    if (!options_.output.empty()) take(row_writer(options_.output, room_), {.canonical = true, .text = true}, errors);
    if (!options_.indices.empty()) take(index_writer(options_.indices), {.as_hashed = true}, errors);
    for (const Shard& shard : shards) {
      if (shard.path == "-" && (!outputs_.empty() || options_.verify)) {
        errors.push_back(
            {.code = "measure/changed",
             .message = "standard input can be read only once, and an output and --verify take a second reading"});
      }
    }
    return errors;
  }

  void take(Result<std::unique_ptr<RowWriter>> writer, Wanted wanted, Diagnostics& errors) {
    if (writer)
      outputs_.push_back({std::move(*writer), wanted});
    else
      errors.insert(errors.end(), writer.errors().begin(), writer.errors().end());
  }

  Diagnostics verify(const std::vector<Shard>& shards, const HashFilter& filter, RowSet& duplicates,
                     DedupeReport& report) {
    ::malloc_trim(0);  // what the first reading freed in small pieces
    Result<std::vector<Shard>> same = again(paths_, shards, room_);
    if (!same) return same.errors();
    KeyColumns key(options_.key);
    ReadOptions quiet = quietly();
    RowStream rows(std::move(*same), quiet, reading_, {.canonical = true}, key);
    Verify verify(room_, temporary_directory(options_.tmp), duplicates);
    Diagnostics errors = compare_bytes(rows, filter, verify, report.totals.rows);
    report.verified = errors.empty();
    report.restored = verify.restored();
    report.spilled_bytes += verify.spilled_bytes();
    return errors;
  }

  /// What was skipped was told the first time.
  ReadOptions quietly() const {
    ReadOptions quiet = options_.read;
    quiet.on_skip = [](const Diagnostic&) {};
    return quiet;
  }

  Diagnostics write(const std::vector<Shard>& shards, const RowSet& duplicates, std::int64_t expected) {
    const Result<std::vector<Shard>> same = again(paths_, shards, room_);
    if (!same) return same.errors();
    for (Output& output : outputs_) {
      KeyColumns whole;
      const ReadOptions quiet = quietly();
      RowStream rows(*same, quiet, reading_, output.wanted, whole);
      if (Diagnostics errors = write_rows(rows, *output.writer, duplicates, expected); !errors.empty()) return errors;
      output.writer.reset();
    }
    return {};
  }

  struct Output {
    std::unique_ptr<RowWriter> writer;
    Wanted wanted;
  };
  const std::vector<std::string>& paths_;
  const DedupeOptions& options_;
  const Room room_;
  const Room reading_;
  std::vector<Output> outputs_{};
};

}  // namespace

DedupeReport dedupe(const std::vector<std::string>& paths, const DedupeOptions& options) {
  const Stopwatch watch;
  DedupeReport report{.budget = options.read.budget};
  const Result<Room> room = room_within(options.read.budget);
  if (!room) {
    report.diagnostics = room.errors();
    return report;
  }
  report.diagnostics = Dedupe(paths, options, *room).run(report);
  report.cost = watch.cost();
  if (report.diagnostics.empty()) report.diagnostics = broken_promise(options.read.budget, report.cost);
  return report;
}

}  // namespace oomplan::measure
