// Puts the terms together.
#include <algorithm>

#include "oomplan/host.hpp"
#include "terms.hpp"

namespace oomplan {

Bytes HostFootprint::in(HostPlace place, HostMoment moment) const {
  Bytes out;
  for (const HostTerm& term : terms) {
    if (term.place == place) out += term.at[static_cast<std::size_t>(moment)];
  }
  return out;
}

Bytes HostFootprint::ram(HostMoment moment) const {
  return in(HostPlace::process, moment) + in(HostPlace::shared, moment) + in(HostPlace::pinned, moment) +
         in(HostPlace::files, moment);
}

HostMoment HostFootprint::worst() const {
  constexpr std::array moments{HostMoment::running, HostMoment::starting, HostMoment::preparing};
  return *std::ranges::max_element(moments, {}, [this](HostMoment moment) { return ram(moment); });
}

Bytes HostFootprint::shared() const { return in(HostPlace::shared, HostMoment::running); }

Bytes HostFootprint::unreclaimable() const { return ram() - in(HostPlace::files, worst()); }

Bytes HostFootprint::page_cache() const { return in(HostPlace::page_cache, HostMoment::running); }

HostFootprint host_footprint(const TrainingPlan& plan, const LoaderProfile* profile,
                             const std::vector<Library>& libraries, const PythonCosts& costs) {
  HostFootprint out;
  const host::Rows rows(plan, profile, costs);
  const host::Question question{plan, rows, libraries, costs};
  for (auto add : {host::add_imports, host::add_workers, host::add_dataset, host::add_batches, host::add_shuffle_buffer,
                   host::add_map}) {
    add(question, out);
  }
  return out;
}

}  // namespace oomplan
