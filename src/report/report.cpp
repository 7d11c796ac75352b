#include "oomplan/report/report.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "facts.hpp"

namespace oomplan {
namespace {

std::vector<PhasePeak> worst_by_phase(const Footprint& footprint) {
  std::vector<PhasePeak> worst;
  for (const PhasePeak& peak : footprint.peaks) {
    auto same = std::find_if(worst.begin(), worst.end(), [&](const PhasePeak& w) { return w.phase == peak.phase; });
    if (same == worst.end()) {
      worst.push_back(peak);
    } else if (peak.tensors() > same->tensors()) {
      *same = peak;
    }
  }
  std::stable_sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.phase < b.phase; });
  return worst;
}

}  // namespace

Report collect(Findings findings) {
  Report report;
  if (findings.plan) {
    report.facts = report::facts_of(*findings.plan);
    if (findings.host) std::ranges::copy(report::facts_of(*findings.plan, true), std::back_inserter(report.facts));
    report.diagnostics = findings.plan->warnings;
    if (findings.architecture) report::resolve_facts(report.facts, *findings.architecture);
  }
  if (findings.footprint) report.phases = worst_by_phase(*findings.footprint);
  report.diagnostics.insert(report.diagnostics.end(), findings.diagnostics.begin(), findings.diagnostics.end());
  report.found = std::move(findings);
  return report;
}

std::string_view version() { return OOMPLAN_VERSION; }

}  // namespace oomplan
