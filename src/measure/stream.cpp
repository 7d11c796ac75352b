
#include "cost.hpp"
#include "oomplan/measure.hpp"
#include "row_stream.hpp"
#include "size_sketch.hpp"

namespace oomplan::measure {
namespace {

Diagnostics read_all(RowStream& rows, const ReadOptions& options, SizeSketch& sketch) {
  RowBatch batch;
  while (true) {
    const Result<bool> more = rows.next(batch);
    if (!more) return more.errors();
    if (!*more) return {};
    for (const std::int64_t size : batch.sizes) sketch.add(size);
    if (options.on_progress) options.on_progress(rows.totals().rows, rows.totals().decoded);
  }
}

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
  KeyColumns whole;
  RowStream rows(std::move(*shards), options, *room, {.sizes = options.row_sizes}, whole);
  SizeSketch sketch;
  report.diagnostics = read_all(rows, options, sketch);
  if (options.row_sizes) report.row_sizes = sketch.sizes();
  report.totals = rows.totals();
  report.cost = watch.cost();
  if (report.diagnostics.empty()) report.diagnostics = broken_promise(options.budget, report.cost);
  return report;
}

}  // namespace oomplan::measure
