#include "series.hpp"

#include <optional>

namespace oomplan::diagnose {
namespace {

constexpr std::size_t fewest_points = 5;

double slope(const SeriesPoint& a, const SeriesPoint& b) {
  return static_cast<double>(b.bytes - a.bytes) / static_cast<double>(b.step - a.step);
}

// Of a tracker's file, or of what was printed: the two measure different things.
std::vector<SeriesPoint> memory_series(const Case& c, bool of_tracker) {
  std::vector<SeriesPoint> out;
  std::optional<std::int64_t> step;
  std::optional<std::size_t> line;
  for (const Evidence& e : *c.evidence) {
    if (c.root == nullptr || e.order > c.root->order || e.says != Says::progress || !e.line) continue;
    if ((e.family == "tensorboard") != of_tracker) continue;
    if (!of_tracker && c.root->rank && e.rank != c.root->rank) continue;  // a tracker has rank 0's, and names none
    if (e.line != line) step.reset();
    line = e.line;
    if (const auto told = e.number("step")) step = told;
    const auto memory = e.number("step_memory");
    if (memory && step && (out.empty() || *step > out.back().step)) out.push_back({*step, *memory});
  }
  return out;
}

}  // namespace

std::vector<SeriesPoint> memory_series(const Case& c) {
  const std::vector<SeriesPoint> printed = memory_series(c, false);
  return printed.empty() ? memory_series(c, true) : printed;
}

bool grows(const std::vector<SeriesPoint>& series) {
  if (series.size() < fewest_points) return false;
  for (std::size_t i = 1; i < series.size(); ++i)
    if (series[i].bytes <= series[i - 1].bytes) return false;
  const SeriesPoint& first = series.front();
  const SeriesPoint& last = series.back();
  return last.bytes - first.bytes >= first.bytes / 5 &&
         slope(series[series.size() - 2], last) * 4 >= slope(first, last);
}

}  // namespace oomplan::diagnose
