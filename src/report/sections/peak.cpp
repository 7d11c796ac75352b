// What fills the card at the run's peak, in one sentence.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "sections.hpp"

namespace oomplan::report {
namespace {

using Share = std::pair<Bytes, std::string_view>;

constexpr std::array of_no_tensors{Bucket::slack, Bucket::fragmentation, Bucket::runtime, Bucket::paged};

/// The buckets of tensors, the largest first, as far as they show in `unit`.
std::vector<Share> shares_of(const PhasePeak& peak, const Unit& unit) {
  std::vector<Share> out;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    const Bytes bytes = at(peak.by_bucket, bucket);
    const bool shows = in_unit(bytes, unit) != "0.00" && bytes > Bytes(0);
    if (shows && std::ranges::count(of_no_tensors, bucket) == 0) out.emplace_back(bytes, name_of(bucket));
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &Share::first);
  return out;
}

}  // namespace

std::string peak_section(const Report& report, const ViewOptions& options) {
  const PhasePeak& peak = report.found.footprint->peak;
  const Unit unit = unit_for(peak.tensors());
  std::string out;
  for (const auto& [bytes, name] : shares_of(peak, unit)) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, in_unit(bytes, unit));
  }
  return wrapped(fmt::format("The peak's tensors, in {}: {}", unit.name, out), 0, 2, options.width) + "\n";
}

}  // namespace oomplan::report
