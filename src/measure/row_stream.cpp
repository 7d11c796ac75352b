#include "row_stream.hpp"

#include <algorithm>
#include <utility>

#include "line_block.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/read/byte_source.hpp"
#include "totals.hpp"

namespace oomplan::measure {
namespace {

/// Adds up how far a file was read.
class Counted final : public read::ByteSource {
 public:
  /// `count` outlives it.
  Counted(std::unique_ptr<read::ByteSource> bytes, std::int64_t& count) : bytes_(std::move(bytes)), count_(count) {}

  Result<std::size_t> read(char* out, std::size_t most) override {
    Result<std::size_t> got = bytes_->read(out, most);
    if (got) count_ += static_cast<std::int64_t>(*got);
    return got;
  }

 private:
  std::unique_ptr<read::ByteSource> bytes_;
  std::int64_t& count_;
};

Diagnostic unknown_format(const std::string& path) {
  return {.code = "measure/unknown-format",
          .message = "this is in no format that is known",
          .where = {path},
          .hint = "--format says what it is; opaque takes each file as one row"};
}

Diagnostic other_rows(const std::string& path, std::int64_t rows, std::int64_t declared) {
  return {.code = "measure/row-count",
          .message = "the file says that it has " + with_separators(declared) + " rows, and " + with_separators(rows) +
                     " were read",
          .where = {path}};
}

}  // namespace

RowStream::RowStream(std::vector<Shard> shards, const ReadOptions& options, const Room& room, const Wanted& wanted,
                     KeyColumns& key)
    : shards_(std::move(shards)), options_(options), room_(room), wanted_(wanted), key_(key) {
  for (const Shard& shard : shards_) all_bytes_ = saturating_add(all_bytes_, shard.size);
}

void RowStream::tell_share() const {
  if (!options_.on_share || all_bytes_ <= 0) return;
  const double rows = file_.declared_rows && *file_.declared_rows > 0
                          ? static_cast<double>(file_.rows) / static_cast<double>(*file_.declared_rows)
                          : 0;
  const double within = std::max(rows * static_cast<double>(file_.bytes), static_cast<double>(position_));
  options_.on_share(
      std::min((static_cast<double>(totals_.file_bytes) + within) / static_cast<double>(all_bytes_), 1.0));
}

bool RowStream::skip(const Diagnostic& error) {
  if (!options_.skip_bad) return false;
  ++file_.skipped;
  ++totals_.skipped;
  if (options_.on_skip) options_.on_skip(error);
  return true;
}

/// Leaves the rest of the shard, where bad rows are skipped.
Result<bool> RowStream::give_up(Diagnostics errors) {
  if (!options_.skip_bad) return errors;
  for (const Diagnostic& error : errors) options_.on_skip(error);
  ++totals_.broken_files;
  file_.broken = true;
  return close();
}

Result<Input> RowStream::input_of(const Shard& shard) {
  auto bytes = shard.part && shard.part->lines ? lines_of(shard.path, *shard.part) : read::open_bytes(shard.path);
  if (!bytes) return bytes.errors();
  position_ = 0;
  *bytes = std::make_unique<Counted>(std::move(*bytes), position_);
  Result<std::string> begun = read::first_bytes(**bytes, read::packed_mark_length);
  if (!begun) return begun.errors();
  Input input{.path = shard.path, .part = shard.part, .room = room_, .wanted = wanted_, .key = &key_};
  input.packed = read::is_packed(*begun);
  input.bytes = read::unpacked(std::move(*bytes), std::move(*begun), shard.path, room_.zstd_window_log);
  input.skip = [this](const Diagnostic& error) { return skip(error); };
  return input;
}

Result<bool> RowStream::open(const Shard& shard) {
  file_ = {.path = shard.path, .bytes = shard.size};
  Result<Input> input = input_of(shard);
  if (!input) return input.errors();
  const Format* format = find_format(options_.format);
  if (format == nullptr) {
    const Result<const Format*> told = sniffed(input->bytes, shard.path);
    if (!told) return told.errors();
    format = *told;
  }
  if (format == nullptr) return unknown_format(shard.path);
  file_.format = format->name;
  auto source = format->open(std::move(*input));
  if (!source) return source.errors();
  source_ = std::move(*source);
  file_.declared_rows = source_->declared();
  return true;
}

Result<bool> RowStream::close() {
  source_.reset();
  totals_.files += 1;
  totals_.file_bytes += file_.bytes;
  if (totals_.listed.size() < most_files_listed) totals_.listed.push_back(file_);
  const FileTotals file = std::exchange(file_, {});
  if (!file.broken && file.declared_rows && *file.declared_rows != file.rows) {
    return other_rows(file.path, file.rows, *file.declared_rows);
  }
  return true;
}

Result<bool> RowStream::next(RowBatch& out) {
  while (true) {
    out.clear();
    if (!source_) {
      if (next_ == shards_.size()) return false;
      if (Result<bool> opened = open(shards_[next_++]); !opened) {
        if (Result<bool> passed = give_up(opened.errors()); !passed) return passed.errors();
        continue;
      }
    }
    const Result<bool> read = source_->next(out);
    if (!read) {
      // What was read before the break stands.
      file_.rows += out.rows, totals_.rows += out.rows, file_.decoded += out.decoded, totals_.decoded += out.decoded;
      if (Result<bool> passed = give_up(read.errors()); !passed) return passed.errors();
      if (out.rows > 0) return true;
      continue;
    }
    if (*read) {
      tell_share();
      file_.rows += out.rows, totals_.rows += out.rows, file_.decoded += out.decoded, totals_.decoded += out.decoded;
      return true;
    }
    if (Result<bool> closed = close(); !closed) return closed.errors();
  }
}

}  // namespace oomplan::measure
