// What fills the card at the run's peak, in one sentence: the parts of what the verdict says is needed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
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

/// What the one card holds beside the tensors, up to what the verdict says is needed.
std::string beside_text(const Report& report, const Unit& unit) {
  if (report.found.fits.size() != 1 || report.found.fits.front().verdict == FitVerdict::undecided) return {};
  const Fit& fit = report.found.fits.front();
  const Bytes runtime = sum(fit.runtime);
  const auto vllm = std::ranges::find(fit.runtime, vllm_term, &RuntimeTerm::name);
  const Bytes of_vllm = vllm == fit.runtime.end() ? Bytes() : vllm->bytes;
  std::string out = "; beside them ";
  if (of_vllm > Bytes(0)) out += std::string(vllm_term) + " " + in_unit(of_vllm, unit) + ", ";
  out += "CUDA " + in_unit(runtime - of_vllm, unit);
  const Bytes tensors = report.found.footprint->peak.tensors();
  if (fit.at_least || fit.needed <= tensors + runtime) return out;
  return out + ", allocator " + in_unit(fit.needed - tensors - runtime, unit);
}

}  // namespace

std::string peak_text(const Report& report, const std::string& note, const ViewOptions& options) {
  const PhasePeak& peak = report.found.footprint->peak;
  const std::string head =
      fmt::format("peak {} of tensors, in {}{}", oomplan::to_text(peak.tensors()), moment_text(peak), note);
  if (options.verdict_only || options.parts.phases) return wrapped(head, 0, 2, options.width) + "\n";
  const Unit unit = unit_for(peak.tensors());
  std::string out;
  for (const auto& [bytes, name] : shares_of(peak, unit))
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, in_unit(bytes, unit));
  return wrapped(fmt::format("{}: {}{}", head, out, beside_text(report, unit)), 0, 2, options.width) + "\n";
}

}  // namespace oomplan::report
