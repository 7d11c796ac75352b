#include "workspaces.hpp"

#include <algorithm>

namespace oomplan::estimator {

std::uint32_t add_workspaces(const Workspaces& workspaces, std::vector<oomplan::Event>& events) {
  if (workspaces.size.count() <= 0 || workspaces.before.empty()) return no_workspace;
  std::uint32_t first = 0;
  for (const oomplan::Event& event : events) first = std::max(first, event.slot + 1);
  // From the last to the first, so that the places of those before stay what they are.
  std::uint32_t slot = first;
  for (auto at = workspaces.before.rbegin(); at != workspaces.before.rend(); ++at) {
    const auto place = events.begin() + static_cast<std::ptrdiff_t>(std::min(*at, events.size()));
    events.insert(place, {oomplan::Event::Kind::allocate, slot++, workspaces.size.count()});
  }
  return first;
}

}  // namespace oomplan::estimator
