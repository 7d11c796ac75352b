#include "oomplan/compare/compare.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "held.hpp"
#include "oomplan/estimate/recording.hpp"

namespace oomplan {
namespace comparing {
namespace {

constexpr std::size_t most_rows = 100;

struct Peaks {
  Bytes allocated{};
  Bytes reserved{};
};

/// Up to an entry of the trace.
Result<Peaks> peaks_of(const Snapshot& snapshot, std::size_t device, std::int64_t until) {
  Result<Recording> recording = recording_of(snapshot, device);
  if (!recording) return recording.errors();
  std::erase_if(recording->steps, [&](const RecordedStep& step) { return step.entry > until; });
  const AllocatorStatistics played = play_as_recorded(*recording).statistics;
  return Peaks{played.peak_allocated, played.peak_reserved};
}

Peaks at_end(const Snapshot& snapshot, std::size_t device) {
  Peaks out;
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (segment.device != static_cast<std::int64_t>(device)) continue;
    out.reserved += Bytes(segment.size);
    for (const SnapshotBlock& block : segment.blocks)
      if (block.state != SnapshotBlock::State::inactive) out.allocated += Bytes(block.size);
  }
  return out;
}

std::int64_t steps_in(const Side& side) {
  std::set<int> steps;
  for (const Move& move : side.moves)
    if (move.at && move.at->step > 0) steps.insert(move.at->step);
  return static_cast<std::int64_t>(steps.size());
}

std::int64_t allocations_in(const Side& side, const LinedUp& lined_up) {
  std::int64_t out = 0;
  for (const Piece& piece : lined_up.pieces)
    out += std::ranges::count_if(piece.observed, [&](std::uint32_t move) { return side.moves[move].allocates; });
  return out;
}

/// Of the trace, up to which its first `moves` are.
std::int64_t last_entry(const Side& side, std::size_t moves) {
  return moves < side.moves.size() ? side.moves[moves].entry - 1 : std::numeric_limits<std::int64_t>::max();
}

void add_differences(const Runs& runs, const LinedUp& lined_up, Comparison& out) {
  std::vector<Difference> all = differences_of(runs, lined_up);
  const auto add_frames = [&](Difference& one) {  // of what is shown alone: a hostile file's are large
    if (one.entry > 0) one.frames = frames_of(runs, one.stack);
  };
  if (!all.empty()) add_frames(out.first.emplace(all.front()));
  out.differences = together(runs, std::move(all));
  if (out.differences.size() > most_rows) {
    out.more_differences = static_cast<std::int64_t>(out.differences.size() - most_rows);
    out.differences.resize(most_rows);
  }
  for (Difference& one : out.differences) add_frames(one);
}

Coverage coverage_of(const Side& side) {
  if (side.moves.empty()) return Coverage::end_only;
  return side.start.empty() ? Coverage::whole : Coverage::cut;
}

}  // namespace
}  // namespace comparing

std::size_t device_of(const Snapshot& snapshot) {
  for (std::size_t i = 0; i < snapshot.traces.size(); ++i)
    if (!snapshot.traces[i].empty()) return i;
  return snapshot.segments.empty() ? 0
                                   : static_cast<std::size_t>(std::max<std::int64_t>(snapshot.segments[0].device, 0));
}

Result<Comparison> compare(const Snapshot& predicted, const Snapshot& observed, std::size_t device) {
  using namespace comparing;
  Side predicted_side = side_of(predicted, 0);
  Side observed_side = side_of(observed, device);
  const diagnose::StackNames predicted_names(predicted);
  const diagnose::StackNames names(observed);
  tell_moments(predicted, predicted_names, predicted_side);
  Comparison out{.file = observed.file, .device = static_cast<std::int64_t>(device)};
  out.coverage = coverage_of(observed_side);
  out.told_by = tell_moments(observed, names, observed_side);
  out.steps = steps_in(observed_side);
  const Peaks end = at_end(observed, device);
  out.end_allocated = end.allocated;
  out.end_reserved = end.reserved;
  if (out.coverage != Coverage::end_only) {
    out.entries = static_cast<std::int64_t>(observed.traces[device].size());
    const Result<Peaks> seen = peaks_of(observed, device, out.entries);
    if (!seen) return seen.errors();
    out.observed_allocated = seen->allocated;
    out.observed_reserved = seen->reserved;
  }
  const Runs runs{predicted, observed, predicted_side, observed_side, names};
  const bool cut = out.coverage == Coverage::cut;
  const LinedUp lined_up = line_up(predicted_side, observed_side, out.told_by, cut);
  const Result<Peaks> expected = peaks_of(predicted, 0, last_entry(predicted_side, lined_up.until));
  if (!expected) return expected.errors();
  out.predicted_allocated = expected->allocated;
  out.predicted_reserved = expected->reserved;
  out.ends_early = lined_up.until < predicted_side.moves.size();
  out.undecided = lined_up.undecided;
  out.lined_up = allocations_in(observed_side, lined_up);
  add_differences(runs, lined_up, out);
  out.phases = phases_of(runs, out.told_by, cut, lined_up.until);
  if (cut) out.begins = seen_moment(runs, sizes_of(observed_side, observed_side.start)).moment;
  const Seen end_seen =
      seen_moment(runs, sizes_of(observed_side, live_after(observed_side, observed_side.moves.size())));
  out.ends = end_seen.moment;
  const bool of_end = out.coverage == Coverage::end_only;
  const std::vector<std::uint32_t> held = live_after(observed_side, highest(observed_side, observed_side.moves.size()));
  const std::vector<std::uint32_t> expected_held =
      live_after(predicted_side, of_end ? end_seen.nearest : highest(predicted_side, lined_up.until));
  out.buckets = buckets_of(runs, expected_held, held, partners(runs, lined_up));
  out.sizes = sizes_at(runs, expected_held, held, most_rows);
  return out;
}

}  // namespace oomplan
