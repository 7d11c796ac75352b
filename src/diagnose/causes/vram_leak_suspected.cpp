#include <fmt/format.h>

#include "../cause.hpp"
#include "../series.hpp"

namespace oomplan::diagnose {
namespace {

// The program printed its memory, and it grew from print to print.
Judgement from_series(const std::vector<SeriesPoint>& series) {
  const SeriesPoint& first = series.front();
  const SeriesPoint& last = series.back();
  const std::int64_t each = (last.bytes - first.bytes) / (last.step - first.step);
  Judgement out{.cause = Cause::vram_leak_suspected, .weight = 55, .confidence = Confidence::likely};
  out.reason = "the memory that the run printed grew from each print to the next";
  out.arithmetic.push_back(fmt::format("{} at step {}, {} at step {}: {} a step over {} prints", shown(first.bytes),
                                       first.step, shown(last.bytes), last.step, shown(each), series.size()));
  out.against.push_back("ever longer batches look the same, where rows are sorted by length");
  return out;
}

}  // namespace

Judgement causes::vram_leak_suspected(const Case& c) {
  if (!is_gpu_shortage(c) || request_exceeds_total(c)) return {};
  if (const std::vector<SeriesPoint> series = memory_series(c); grows(series)) return from_series(series);
  if (!c.moment.step || *c.moment.step < 100) return {};
  Judgement out{.cause = Cause::vram_leak_suspected, .weight = 20, .confidence = Confidence::possible};
  out.reason = fmt::format("it ran for {} steps before it failed", *c.moment.step);
  out.against.push_back(
      "a longer batch late in the epoch does the same; a leak shows as memory that grows from step to step");
  return out;
}

}  // namespace oomplan::diagnose
