// For people: a table for each list, a row for each setting.
//
//   step.txt.zst: 120,300 events, 24.00 GiB less 512.00 MiB
//     peak GiB                  allocated  reserved  slack  fragmented  segments  cudaMalloc  cudaFree  retries
//     default                       20.13     22.22   2.09        0.40        82         114        32        1  fits
//     expandable_segments:True      21.90     23.10   1.20        0.13         2         310        12        1  ran
//     out
//
//   expandable_segments:True: line 10,607 asked for 9.27 GiB
//     CUDA out of memory. Tried to allocate …
#include "oomplan/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../layout.hpp"
#include "oomplan/report/replay.hpp"

namespace oomplan {
namespace {

using report::Cell;
using report::Paint;
using report::Row;
using report::Unit;

std::string name_of_run(const ReplayRun& run) {
  std::string name = run.alloc_conf.empty() ? std::string("default") : printable(run.alloc_conf);
  return run.agreement ? name + ", as recorded" : name;
}

Row heading(const Unit& unit) {
  Row row{{"peak " + std::string(unit.name)}};
  for (const char* name :
       {"allocated", "reserved", "slack", "fragmented", "segments", "cudaMalloc", "cudaFree", "retries"}) {
    row.push_back({name, true});
  }
  for (Cell& cell : row) cell.paint = Paint::dim;
  return row;
}

Row row_of(const ReplayRun& run, const Unit& unit, bool limited) {
  const AllocatorStatistics& s = run.statistics;
  Row row{{name_of_run(run)}};
  for (const Bytes bytes : {s.peak_allocated, s.peak_reserved, s.peak_reserved - s.peak_allocated, s.peak_fragmented}) {
    row.push_back({report::in_unit(bytes, unit), true});
  }
  for (const std::int64_t count : {s.peak_segments, s.device_allocs, s.device_frees, s.retries}) {
    row.push_back({with_separators(count), true});
  }
  if (run.ran_out) {
    row.push_back({"ran out", false, Paint::red});
  } else if (limited) {
    row.push_back({"fits", false, Paint::green});
  }
  return row;
}

Unit unit_of(const ReplayedList& list) {
  Bytes largest;
  for (const ReplayRun& run : list.runs) largest = std::max(largest, run.statistics.peak_reserved);
  return report::unit_for(largest);
}

bool is_recorded(const ReplayedList& list) {
  return std::ranges::any_of(list.runs, [](const ReplayRun& run) { return run.agreement.has_value(); });
}

bool is_limited(const ReplayedList& list, const Replay& replay) {
  return replay.capacity || (list.room && !is_recorded(list));
}

std::string card_of(const ReplayedList& list, const Replay& replay) {
  if (is_recorded(list)) return "the card that it ran on";
  if (!replay.capacity && list.room) return to_text(*list.room) + ", what there was when the recorded run ran out";
  std::string card = replay.capacity ? to_text(*replay.capacity) : "a card without limit";
  if (replay.context.count() > 0) card += " less " + to_text(replay.context);
  return card;
}

std::string title(const ReplayedList& list, const Replay& replay) {
  const std::string streams = list.streams > 1 ? fmt::format(", {} streams played as one", list.streams) : "";
  return fmt::format("{}: {}{} on {}\n", printable(list.file), counted(list.events, "event"), streams,
                     card_of(list, replay));
}

/// How far the rules that are played did what was recorded.
std::string agreement_text(const ReplayRun& run) {
  if (!run.agreement) return {};
  const Agreement& a = *run.agreement;
  std::string out = fmt::format("  played as recorded: {} of {} new segments, {} of {} allocations at their address\n",
                                with_separators(a.same), with_separators(a.segments),
                                with_separators(a.at_their_address), with_separators(a.allocations));
  if (a.first_different)
    out += fmt::format("  the first difference is at event {}\n", with_separators(*a.first_different));
  if (run.survived > 0) out += fmt::format("  it ran out {} and went on\n", counted(run.survived, "time"));
  return out;
}

std::string end_of(const ReplayRun& run, bool of_trace) {
  if (!run.ran_out) return {};
  const OutOfMemory& memory = run.ran_out->memory;
  const std::string_view place = of_trace ? "event" : "line";
  return fmt::format("\n{}: {} {} asked for {}, with {} allocated and {} reserved\n  {}\n", name_of_run(run), place,
                     with_separators(run.ran_out->line), to_text(memory.asked), to_text(memory.allocated),
                     to_text(memory.reserved), memory.message);
}

std::string list_text(const ReplayedList& list, const Replay& replay, bool colour) {
  const Unit unit = unit_of(list);
  std::vector<Row> rows{heading(unit)};
  std::string ends;
  for (const ReplayRun& run : list.runs) {
    rows.push_back(row_of(run, unit, is_limited(list, replay)));
    ends += agreement_text(run) + end_of(run, list.of_trace);
  }
  return title(list, replay) + report::aligned(rows, colour) + ends;
}

}  // namespace

std::string replay_text(const Replay& replay, bool colour) {
  std::string out;
  for (const ReplayedList& list : replay.lists) out += (out.empty() ? "" : "\n") + list_text(list, replay, colour);
  return out;
}

}  // namespace oomplan
