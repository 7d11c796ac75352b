// Puts the terms together.
#include "oomplan/estimate/host.hpp"
#include "terms.hpp"

namespace oomplan {

HostFootprint host_footprint(const TrainingPlan& plan, const LoaderProfile* profile,
                             const std::vector<Library>& libraries, const PythonCosts& costs) {
  HostFootprint out;
  const host::Rows rows(plan, profile, costs);
  const host::Question question{plan, rows, libraries, costs};
  for (auto add : {host::add_imports, host::add_workers, host::add_dataset, host::add_batches, host::add_shuffle_buffer,
                   host::add_map}) {
    add(question, out);
  }
  if (plan.mesh.fsdp_offload.value) {
    out.missing.emplace_back("what FSDP keeps on the host: shards, their gradients and their optimizer's state");
  }
  if (is_zero(plan.mesh.sharding.value)) {
    if (plan.mesh.zero_offload_optimizer.value) {
      out.missing.emplace_back("what ZeRO keeps on the host: fp32 weights, gradients and the optimizer's state");
    }
    if (plan.mesh.zero_offload_params.value) out.missing.emplace_back("the shards that ZeRO keeps on the host");
  }
  return out;
}

}  // namespace oomplan
