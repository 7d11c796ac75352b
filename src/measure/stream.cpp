#include <algorithm>
#include <cmath>
#include <memory>

#include "blocks.hpp"
#include "cost.hpp"
#include "oomplan/measure.hpp"
#include "oomplan/text.hpp"
#include "row_stream.hpp"
#include "sample.hpp"
#include "size_sketch.hpp"
#include "token_counts.hpp"

namespace oomplan::measure {
namespace {

/// Reads what `options` asks for into `report`.
class Reading {
 public:
  Reading(const ReadOptions& options, const Room& room, StreamReport& report)
      : options_(options), room_(room), report_(report) {
    if (options.tokens) tokens_ = std::make_unique<TokenCounts>();
  }

  Diagnostics whole(std::vector<Shard> shards) {
    SizeSketch sizes;
    Diagnostics errors = read(std::move(shards), options_, sizes);
    if (tokens_) report_.tokens = tokens_->tokens();
    if (options_.row_sizes) report_.row_sizes = sizes.sizes();
    return errors;
  }

  Diagnostics sample(std::vector<Shard> shards) {
    Result<Blocks> blocks = Blocks::of(shards, options_, room_);
    if (!blocks) return blocks.errors();
    if (blocks->count() > 2 * options_.sample && blocks->bytes() > 0) return drawn(*blocks);
    Diagnostics errors = whole(std::move(shards));
    report_.sampled = everything(blocks->count());
    return errors;
  }

 private:
  Diagnostics read(std::vector<Shard> shards, const ReadOptions& options, SizeSketch& sizes) {
    RowStream rows(std::move(shards), options, room_, {.sizes = options.row_sizes, .canonical = options.tokens}, key_);
    Diagnostics errors = read(rows, sizes);
    add(rows.totals());
    return errors;
  }

  Diagnostics read(RowStream& rows, SizeSketch& sizes) {
    RowBatch batch;
    while (true) {
      const Result<bool> more = rows.next(batch);
      if (!more) return more.errors();
      if (!*more) return {};
      for (const std::int64_t size : batch.sizes) sizes.add(size);
      for (std::int64_t i = 0; tokens_ && i < batch.rows; ++i)
        tokens_->add(batch.canonical[static_cast<std::size_t>(i)]);
      if (options_.on_progress)
        options_.on_progress(report_.totals.rows + rows.totals().rows, report_.totals.decoded + rows.totals().decoded);
    }
  }

  Diagnostics drawn(Blocks& blocks) {
    const auto picked = drawn_from(blocks, options_.sample, options_.seed);
    if (!picked) return picked.errors();
    std::vector<SampledBlock> read_blocks;
    std::int64_t longest = 0;
    for (const auto& [block, times] : *picked) {
      if (options_.on_share)
        options_.on_share(static_cast<double>(read_blocks.size()) / static_cast<double>(picked->size()));
      SizeSketch sizes;
      if (Diagnostics errors = one(block, sizes); !errors.empty()) return errors;
      longest = std::max(longest, sizes.longest());
      read_blocks.push_back(
          {block.bytes, times, static_cast<double>(sizes.count()), static_cast<double>(sizes.sum()), sizes.bins()});
    }
    Sampled sampled = estimates_of(read_blocks, blocks.bytes(), blocks.rows());
    sampled.of_blocks = blocks.count();
    sampled.seed = options_.seed;
    report_.row_sizes = {sampled.mean.value, std::llround(sampled.p50.value), std::llround(sampled.p99.value), longest};
    report_.sampled = sampled;
    return {};
  }

  /// Rows and bytes are counted from the block's beginning, and errors say so.
  Diagnostics one(const Block& block, SizeSketch& sizes) {
    ReadOptions options = options_;
    options.row_sizes = true;
    options.format = block.format;
    options.on_share = {};
    const auto place = [&block](Diagnostic error) {
      if (block.shard.part && block.shard.part->lines)
        error.message += " (of the block at byte " + with_separators(block.shard.part->begin) + ")";
      return error;
    };
    options.on_skip = [&](const Diagnostic& error) { options_.on_skip(place(error)); };
    Diagnostics errors = read({block.shard}, options, sizes);
    for (Diagnostic& error : errors) error = place(std::move(error));
    return errors;
  }

  /// Blocks of one file follow each other and are one file.
  void add(const ReadTotals& more) {
    ReadTotals& all = report_.totals;
    const bool same = !all.listed.empty() && !more.listed.empty() && all.listed.back().path == more.listed.front().path;
    all.files += more.files - (same ? 1 : 0);
    all.file_bytes += more.file_bytes;
    all.rows += more.rows;
    all.decoded += more.decoded;
    all.skipped += more.skipped;
    all.broken_files += more.broken_files;
    if (!same) return all.listed.insert(all.listed.end(), more.listed.begin(), more.listed.end()), void();
    FileTotals& file = all.listed.back();
    const FileTotals& part = more.listed.front();
    file.bytes += part.bytes;
    file.rows += part.rows;
    file.declared_rows = file.declared_rows && part.declared_rows
                             ? std::optional(*file.declared_rows + *part.declared_rows)
                             : std::nullopt;
    file.decoded += part.decoded;
    file.skipped += part.skipped;
    file.broken = file.broken || part.broken;
  }

  Sampled everything(std::int64_t blocks) const {
    const auto exactly = [](double value) { return Estimate{value, value, value}; };
    const RowSizes sizes = report_.row_sizes.value_or(RowSizes{});
    return {.blocks = blocks,
            .of_blocks = blocks,
            .seed = options_.seed,
            .rows_known = true,
            .rows = exactly(static_cast<double>(report_.totals.rows)),
            .decoded = exactly(static_cast<double>(report_.totals.decoded)),
            .mean = exactly(sizes.mean),
            .p50 = exactly(static_cast<double>(sizes.p50)),
            .p99 = exactly(static_cast<double>(sizes.p99))};
  }

  const ReadOptions& options_;
  const Room& room_;
  StreamReport& report_;
  std::unique_ptr<TokenCounts> tokens_{};
  KeyColumns key_{};
};

}  // namespace

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> out;
  for (const Format& format : formats()) out.push_back(format.name);
  return out;
}

StreamReport stream(const std::vector<std::string>& paths, const ReadOptions& options) {
  const Stopwatch watch;
  StreamReport report{.budget = options.budget};
  const Result<Room> room = room_within(options.budget);
  if (!room) {
    report.diagnostics = room.errors();
    return report;
  }
  Result<std::vector<Shard>> shards = shards_of(paths, room->free / 8);
  if (!shards) {
    report.diagnostics = shards.errors();
    return report;
  }
  Reading reading(options, *room, report);
  report.diagnostics = options.sample > 0 ? reading.sample(std::move(*shards)) : reading.whole(std::move(*shards));
  report.cost = watch.cost();
  if (report.diagnostics.empty()) report.diagnostics = broken_promise(options.budget, report.cost);
  return report;
}

}  // namespace oomplan::measure
