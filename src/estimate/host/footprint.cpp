// Puts the terms together.
#include <algorithm>

#include "facts.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "oomplan/catalog/optimizer.hpp"
#include "oomplan/estimate/host.hpp"
#include "terms.hpp"

namespace oomplan {
namespace {

/// DeepSpeed's own keep Adam's two tensors in fp32, or one (csrc/adam, csrc/lion, csrc/adagrad).
std::int64_t state_tensors_of(const TrainingPlan& plan) {
  const std::string& name = plan.optimizer.name.value;
  const bool on_host = is_zero(plan.mesh.sharding.value) && plan.mesh.zero_offload_optimizer.value;
  if (on_host && plan.mesh.zero_replaces_optimizer.value) {
    if (name.starts_with("adamw")) return 2;
    return name.starts_with("lion") || name == "adagrad" ? 1 : -1;
  }
  const OptimizerFile* file = find_optimizer(name);
  const bool simple = file != nullptr && file->groups.size() == 1 && file->groups.front().rules.size() == 1 &&
                      file->groups.front().code.empty();
  if (!simple) return -1;
  std::int64_t out = 0;
  for (const OptimizerState& state : file->groups.front().rules.front().states) {
    if (state.sizes == OptimizerState::Sizes::scalar) continue;
    if (state.sizes != OptimizerState::Sizes::parameter || state.dtype || state.times != 1) return -1;
    ++out;
  }
  return out;
}

}  // namespace

HostModel host_model(const TrainingPlan& plan, const Architecture& architecture, const Footprint& footprint) {
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  const std::int64_t own = footprint.parameters - (adapts ? footprint.trainable_parameters : 0);
  return {footprint.held,
          estimator::loaded_dtype(plan, architecture),
          architecture.checkpoint_dtype,
          own,
          architecture.tied_embeddings,
          state_tensors_of(plan)};
}

HostFootprint host_footprint(const TrainingPlan& plan, const HostModel* model, const LoaderProfile* profile,
                             const std::vector<Library>& libraries, const PythonCosts& costs) {
  HostFootprint out;
  const host::Rows rows(plan, profile, costs);
  const host::Question question{plan, rows, libraries, costs, model};
  for (auto add : {host::add_imports, host::add_loading, host::add_workers, host::add_dataset, host::add_batches,
                   host::add_shuffle_buffer, host::add_map, host::add_offloaded, host::add_saving}) {
    add(question, out);
  }
  return out;
}

}  // namespace oomplan
