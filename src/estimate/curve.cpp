#include "curve.hpp"

#include <algorithm>

#include "walker.hpp"

namespace oomplan::estimator {
namespace {

struct Highest {
  int step = 0;
  std::int64_t total = -1;
};

}  // namespace

Curve curve_of(const Timeline& timeline, const std::vector<std::string>& modules, std::size_t most) {
  Highest highest;
  Walker walker(timeline);
  walker.walk([&](const Here& here) {
    if (here.total > highest.total) highest = {here.step, here.total};
  });
  std::size_t events = 0;
  walker.walk([&](const Here& here) { events += here.step == highest.step ? 1 : 0; });
  const std::size_t a_point = std::max<std::size_t>(1, (events + most - 1) / std::max<std::size_t>(most, 1));
  Curve out{.step = highest.step};
  std::size_t seen = 0;
  std::int64_t best = 0;
  walker.walk([&](const Here& here) {
    if (here.step != highest.step) return;
    const bool first = seen++ % a_point == 0;
    if (!first && here.total <= best) return;
    best = here.total;
    if (first) out.points.emplace_back();
    const Storage& storage = timeline.recorder().at(here.latest);
    out.points.back() = {.phase = here.phase,
                         .by_bucket = here.levels,
                         .op = storage.op,
                         .module = storage.module < 0 ? "" : modules[static_cast<std::size_t>(storage.module)],
                         .layer = here.layer,
                         .bytes = Bytes(storage.bytes)};
  });
  return out;
}

}  // namespace oomplan::estimator
