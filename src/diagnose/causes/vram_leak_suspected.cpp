#include <fmt/format.h>

#include "../cause.hpp"
#include "../series.hpp"

namespace oomplan::diagnose {
namespace {

// The program printed its memory, and it grew from print to print. A peak is kept once a batch has set it: the records
// of batches of all lengths come ever more rarely; what leaks raises it evenly, but so do batches that are ever longer.
Judgement from_series(const Series& series, bool of_peaks) {
  const SeriesPoint& first = series.points.front();
  const SeriesPoint& last = series.points.back();
  const std::int64_t each = (last.bytes - first.bytes) / (last.step - first.step);
  const bool is_weak = of_peaks && !grows_evenly(series);
  Judgement out{.cause = Cause::vram_leak_suspected, .weight = is_weak ? 45 : 55};
  out.confidence = of_peaks ? Confidence::possible : Confidence::likely;
  out.reason = fmt::format("the {} that the run printed grew from each print to the next",
                           of_peaks ? "peak of memory" : "memory");
  out.arithmetic.push_back(
      fmt::format("{}: {} a {} over {} prints", ends_of(series), shown(each), series.unit(), series.points.size()));
  out.against.push_back("ever longer batches look the same, where rows are sorted by length");
  return out;
}

// What was printed is not what filled the card: the host's memory, what was free, another phase.
bool is_of_another_memory(const Case& c, const Series& series) {
  return c.gpu.allocated && series.points.back().bytes < *c.gpu.allocated / 2;
}

}  // namespace

Judgement causes::vram_leak_suspected(const Case& c) {
  if (!is_gpu_shortage(c) || request_exceeds_total(c)) return {};
  const Series now = memory_series(c, "step_memory");
  if (grows(now) && !is_of_another_memory(c, now)) return from_series(now, false);
  const Series peak = memory_series(c, "step_peak");
  if (now.points.empty() && grows(peak) && !is_of_another_memory(c, peak)) return from_series(peak, true);
  if (!is_after_many_steps(c)) return {};
  Judgement out{.cause = Cause::vram_leak_suspected, .weight = 20, .confidence = Confidence::possible};
  out.reason = fmt::format("it ran for {} steps before it failed", *c.moment.step);
  out.against.push_back(
      "a longer batch late in the epoch does the same; a leak shows as memory that grows from step to step");
  return out;
}

}  // namespace oomplan::diagnose
