// A paged optimizer's state that the card has no room for. CUDA's managed memory is moved by the driver: the pages that
// it takes off the card are host RAM of its own, which is not swapped.
#include <fmt/format.h>

#include "oomplan/core/text.hpp"
#include "terms.hpp"

namespace oomplan {

void add_paged(HostFootprint& footprint, const TrainingPlan& plan, const PagedOut& paged) {
  if (paged.each <= Bytes(0)) return;
  const std::int64_t ranks = plan.loader.ranks.value;
  footprint.terms.push_back(
      host::term("paged optimizer state", HostPlace::pinned, ranks * paged.each, HostMoment::running,
                 fmt::format("{} × {}, {}", counted(ranks, "rank"), to_text(paged.each), paged.which),
                 "bitsandbytes: functional.get_paged (cudaMallocManaged), of tensors of 100,000 elements and more"));
}

}  // namespace oomplan
