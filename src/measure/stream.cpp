#include <algorithm>
#include <cmath>
#include <memory>

#include "blocks.hpp"
#include "cost.hpp"
#include "in_order.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/measure/measure.hpp"
#include "row_stream.hpp"
#include "sample.hpp"
#include "size_sketch.hpp"
#include "token_counts.hpp"
#include "totals.hpp"
#include "units.hpp"

namespace oomplan::measure {
namespace {

/// What one unit has.
struct Tally {
  ReadTotals totals{};
  SizeSketch sizes{};
  std::unique_ptr<TokenCounts> tokens{};
};

/// Reads what `options` asks for into `report`.
class Reading {
 public:
  Reading(const ReadOptions& options, const Room& room, StreamReport& report)
      : options_(options), room_(room), report_(report) {
    if (options.tokens) tokens_ = std::make_unique<TokenCounts>();
  }

  Diagnostics whole(const std::vector<Shard>& shards) {
    SizeSketch sizes;
    const Units units = units_of(shards, options_, room_);
    Diagnostics errors;
    if (units.threads == 1 || !together(units, sizes)) {
      // What a share of the budget does not hold, or what is wrong, is found again as one thread finds it.
      sizes = {};
      report_.totals = {};
      if (tokens_) tokens_ = std::make_unique<TokenCounts>();
      errors = read(shards, options_, sizes);
    }
    if (tokens_) report_.tokens = tokens_->tokens();
    if (options_.row_sizes) report_.row_sizes = sizes.sizes();
    return errors;
  }

  Diagnostics sample(std::vector<Shard> shards) {
    Result<Blocks> blocks = Blocks::of(shards, options_, room_);
    if (!blocks) return blocks.errors();
    if (blocks->count() > 2 * options_.sample && blocks->bytes() > 0) return drawn(*blocks);
    Diagnostics errors = whole(shards);
    report_.sampled = everything(blocks->count());
    return errors;
  }

 private:
  /// With several threads. False where one failed.
  bool together(const Units& units, SizeSketch& sizes) {
    ReadOptions quiet = options_;
    quiet.on_progress = {};
    quiet.on_share = {};
    std::int64_t all_bytes = 1;
    for (const Shard& unit : units.shards) all_bytes = saturating_add(all_bytes, unit.size);
    InOrder<Tally> tallies(units.shards.size(), units.threads, [&](std::size_t unit, const auto& emit) -> Result<bool> {
      Tally tally;
      if (options_.tokens) tally.tokens = std::make_unique<TokenCounts>();
      KeyColumns whole;
      RowStream rows({units.shards[unit]}, quiet, units.room, wanted(quiet), whole);
      if (Diagnostics errors = read(rows, tally.sizes, tally.tokens.get(), {}); !errors.empty()) return errors;
      tally.totals = rows.totals();
      return emit(std::move(tally));
    });
    for (Tally tally; tallies.next(tally);) {
      const Shard& unit = units.shards[tallies.done()];
      add(report_.totals, tally.totals, unit.part && unit.part->begin > 0);
      sizes.add(tally.sizes);
      if (tokens_) tokens_->add(*tally.tokens);
      if (options_.on_share)
        options_.on_share(static_cast<double>(report_.totals.file_bytes) / static_cast<double>(all_bytes));
      if (options_.on_progress) options_.on_progress(report_.totals.rows, report_.totals.decoded);
    }
    return tallies.done() == units.shards.size();
  }

  Diagnostics read(std::vector<Shard> shards, const ReadOptions& options, SizeSketch& sizes) {
    const ReadTotals& all = report_.totals;
    const bool goes_on = shards.front().part && !all.listed.empty() && all.listed.back().path == shards.front().path;
    RowStream rows(std::move(shards), options, room_, wanted(options), key_);
    Diagnostics errors = read(rows, sizes, tokens_.get(), options_.on_progress);
    add(report_.totals, rows.totals(), goes_on);
    return errors;
  }

  static Wanted wanted(const ReadOptions& options) { return {.sizes = options.row_sizes, .canonical = options.tokens}; }

  /// `on_progress` as in ReadOptions, or nothing.
  Diagnostics read(RowStream& rows, SizeSketch& sizes, TokenCounts* tokens,
                   const std::function<void(std::int64_t, std::int64_t)>& on_progress) {
    RowBatch batch;
    while (true) {
      const Result<bool> more = rows.next(batch);
      if (!more) return more.errors();
      if (!*more) return {};
      for (const std::int64_t size : batch.sizes) sizes.add(size);
      for (std::size_t i = 0; i < batch.canonical.size(); ++i) tokens->add(batch.canonical[i]);
      if (on_progress)
        on_progress(report_.totals.rows + rows.totals().rows, report_.totals.decoded + rows.totals().decoded);
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
  report.diagnostics = options.sample > 0 ? reading.sample(std::move(*shards)) : reading.whole(*shards);
  report.cost = watch.cost();
  if (report.diagnostics.empty()) report.diagnostics = broken_promise(options.budget, report.cost);
  return report;
}

}  // namespace oomplan::measure
