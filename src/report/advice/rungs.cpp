#include "rungs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "oomplan/core/text.hpp"

namespace oomplan::report {
namespace {

constexpr Unit gib{"GiB", 1024.0 * 1024 * 1024};

Bytes tensors_of(const ByBucket& by_bucket) {
  Bytes out;
  for (std::size_t i = 0; i < bucket_count; ++i)
    if (static_cast<Bucket>(i) != Bucket::paged) out = out + by_bucket[i];
  return out;
}

/// The bucket that gives most way from the peak of `from`, or grows most to it: in the same phase of `to`, since the
/// peak of that may be in another, which holds other things whatever was changed.
Bucket moved_most(const Trial& from, const Trial& to) {
  const auto peak = std::ranges::max_element(from.by_phase, {}, tensors_of);
  const auto at = static_cast<std::size_t>(peak - from.by_phase.begin());
  const bool alike = from.by_phase.size() == to.by_phase.size() && !to.by_phase.empty();
  const ByBucket& high = alike ? *peak : from.by_bucket;
  const ByBucket& low = alike ? to.by_phase[at] : to.by_bucket;
  std::size_t most = 0;
  const auto fall = [&](std::size_t i) { return (high[i] - low[i]).count(); };
  for (std::size_t i = 1; i < bucket_count; ++i)
    if (static_cast<Bucket>(i) != Bucket::paged && fall(i) > fall(most)) most = i;
  return static_cast<Bucket>(most);
}

std::string saved_text(const Trial& before, const Trial& after) {
  const Bytes saved = tensors_of(before.by_bucket) - tensors_of(after.by_bucket);
  if (saved < Bytes(0) - Bytes::mib(10))
    return fmt::format("adds {} {}", in_unit(Bytes(0) - saved, gib), name_of(moved_most(after, before)));
  if (saved < Bytes::mib(10)) return "-";
  return fmt::format("{} {}", in_unit(saved, gib), name_of(moved_most(before, after)));
}

std::string_view results_text(Science science) {
  switch (science) {
    case Science::none:
      return "same";
    case Science::batch_statistics:
      return "batch";
    case Science::numerics:
      return "numerics";
    case Science::changes_experiment:
      return "differ";
  }
  return {};
}

}  // namespace

std::string taken_text(const Taken& taken) {
  return taken.id + (taken.times > 1 ? fmt::format(" x{}", taken.times) : "");
}

std::string slower_text(const LadderFix& fix) {
  if (!fix.slower) return "?";
  if (fix.slower->most == 0) return "no";
  if (fix.slower->least == fix.slower->most) return fmt::format("{} %", fix.slower->most);
  return fmt::format("{}-{} %", fix.slower->least, fix.slower->most);
}

Row rung_heads() {
  Row out{{""}, {"needs GiB", true}, {"fits"}, {"saves GiB, mostly"}, {"slower"}, {"results"}};
  for (Cell& cell : out) cell.paint = Paint::dim;
  return out;
}

Row rung_row(const std::string& name, const Trial& trial, const LadderFix* fix, const Trial& before) {
  const std::string needed = in_unit(trial.needed, gib);
  return {{name},
          {trial.at_least ? ">" + needed : needed, true},
          {trial.fits            ? "yes"
           : trial.fragmentation ? "no, fragments"
                                 : "no",
           false, trial.fits ? Paint::green : Paint::red},
          {fix == nullptr ? "" : saved_text(before, trial)},
          {fix == nullptr ? "" : slower_text(*fix)},
          {fix == nullptr ? "" : std::string(results_text(fix->science))}};
}

}  // namespace oomplan::report
