// MeshBound: what one layer and two of them hold, times what a layout makes of it.
#include <algorithm>
#include <utility>

#include "bounds.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/estimate/estimate.hpp"
#include "settings.hpp"

namespace oomplan {

using survey::least_element;
using survey::part;
using survey::times;

namespace {

/// Whether a layer holds what any other does.
bool is_alike(const Architecture& model, const TrainingPlan& plan) {
  if (model.body.size() != 1 || model.layers < 2 || model.teacher != nullptr) return false;
  const Segment& body = model.body.front();
  const bool plain = body.kinds.size() == 1 && body.groups == 0 && !body.tower && !body.decodes;
  const bool all_alike = plan.checkpointing.every.value <= 1 && plan.recipe.trained_layers.value == 0 &&
                         plan.recipe.trained.value.empty() && plan.recipe.frozen.value.empty() &&
                         plan.adapter.layers.value.empty();
  return plain && all_alike;
}

Architecture of_layers(Architecture model, std::int64_t layers) {
  model.body.front().layers.resize(static_cast<std::size_t>(layers));
  model.layers = layers;
  model.parameters = 0;
  return model;
}

/// One rank that shares matrices alone, and takes one micro-batch.
TrainingPlan alone(TrainingPlan plan) {
  MeshFacts& mesh = plan.mesh;
  mesh.world_size.value = mesh.tensor_parallel.value;
  if (mesh.sharding.value != Sharding::fsdp2) mesh.sharding.value = Sharding::none;
  mesh.fsdp_replicas.value = 1;
  mesh.fsdp_reshard.value = Reshard::automatic;
  plan.batch.gradient_accumulation_steps.value = 1;
  return plan;
}

/// The last step's: the first has no state of the optimizer yet.
const PhasePeak* last_of(const Footprint& footprint, Phase phase) {
  const PhasePeak* out = nullptr;
  for (const PhasePeak& peak : footprint.peaks)
    if (peak.phase == phase) out = &peak;
  return out;
}

}  // namespace

MeshBound::MeshBound(const LayoutQuestion& question) : question_(question) {}

std::optional<MeshBound::Anchor> MeshBound::anchor_of(const TrainingPlan& plan, const Architecture& model) const {
  const Result<Footprint> footprint = estimate(plan, model, Detail::peaks);
  if (!footprint) return std::nullopt;
  const PhasePeak* loss = last_of(*footprint, Phase::loss);
  const PhasePeak* step = last_of(*footprint, Phase::optimizer_step);
  if (loss == nullptr || step == nullptr) return std::nullopt;
  const auto of = [](const PhasePeak& peak, Bucket bucket) { return at(peak.by_bucket, bucket); };
  const Bytes gradients = of(*step, Bucket::gradients);
  return Anchor{
      .states = of(*loss, Bucket::weights) + of(*loss, Bucket::optimizer),
      .stepped = of(*step, Bucket::weights) + of(*step, Bucket::optimizer) + gradients,
      .gradients = gradients,
      .kept = of(*loss, Bucket::activations) + of(*loss, Bucket::attention_scores) + of(*loss, Bucket::logits_and_loss),
      .elements = footprint->parameters,
      .trained = footprint->trainable_parameters};
}

/// The layout's plan on one rank. What it is but for the batch is read once.
const std::optional<TrainingPlan>& MeshBound::plan_of(const MeshLayout& layout) {
  const MeshShape& asked = layout.shape;
  const bool sharded = asked.sharding == Sharding::fsdp2;
  const Key key(asked.tensor, asked.sequence, asked.loss, sharded, layout.checkpointing, 0);
  const auto [known, is_new] = plans_.try_emplace(key);
  if (!is_new) return known->second;
  MeshLayout whole = layout;  // The same without stages.
  MeshShape& shape = whole.shape;
  shape.data *= shape.pipeline;
  shape.pipeline = shape.stages_each = 1;
  shape.schedule = PipelineSchedule::one_f_one_b;
  if (shape.data > 1 && shape.sharding == Sharding::none) shape.sharding = Sharding::ddp;
  Result<TrainingPlan> read = survey::mesh_plan(question_, whole);
  if (read) known->second = alone(std::move(*read));
  return known->second;
}

MeshBound::Pair MeshBound::played(const MeshLayout& layout) {
  const std::optional<TrainingPlan>& read = plan_of(layout);
  if (!read) return {};
  TrainingPlan plan = *read;
  plan.batch.micro_batch_size.value = layout.micro_batch;
  const Architecture& model = question_.architecture;
  const bool alike = is_alike(model, plan);
  const std::optional<Anchor> one = anchor_of(plan, alike ? of_layers(model, 1) : model);
  if (!one) return {};
  Pair out{.one = *one,
           .synced = plan.mesh.sync_each.value,
           .outputs = plan.mesh.pipeline_outputs.value,
           .quantized = plan.quantization.kind.value != Quantization::none,
           .length = plan.batch.sequence_length.value};
  if (!alike) return out;
  const std::optional<Anchor> two = anchor_of(plan, of_layers(model, 2));
  if (!two) return {};
  out.layer = {.states = two->states - one->states,
               .stepped = two->stepped - one->stepped,
               .gradients = two->gradients - one->gradients,
               .kept = two->kept - one->kept,
               .elements = two->elements - one->elements,
               .trained = two->trained - one->trained};
  return out;
}

const MeshBound::Pair& MeshBound::pair_of(const MeshLayout& layout) {
  const MeshShape& shape = layout.shape;
  const bool sharded = shape.sharding == Sharding::fsdp2;
  const Key key(shape.tensor, shape.sequence, shape.loss, sharded, layout.checkpointing, layout.micro_batch);
  const auto known = pairs_.find(key);
  return known != pairs_.end() ? known->second : pairs_.emplace(key, played(layout)).first->second;
}

Bytes MeshBound::least(const MeshLayout& layout) {
  const Pair& pair = pair_of(layout);
  const MeshShape& shape = layout.shape;
  if (shape.pipeline > 1) return least_in_stages(layout, pair);
  const std::int64_t others = question_.architecture.layers - 1;
  const auto of = [&](Bytes Anchor::*what) { return pair.one.*what + times(pair.layer.*what, others); };
  Bytes losing = part(of(&Anchor::states), shape.shards()) + of(&Anchor::kept);
  const bool sharded = shape.shards() > 1 && !pair.quantized;
  if (shape.kept && sharded) losing += times(Bytes(least_element * pair.layer.elements / shape.tensor), others);
  if (layout.micro_batches > 1) {
    const bool whole = !pair.synced && sharded;
    losing += whole ? times(Bytes(least_element * pair.layer.trained / shape.tensor), others)
                    : part(of(&Anchor::gradients), shape.shards());
  }
  return std::max(losing, part(of(&Anchor::stepped), shape.shards()));
}

}  // namespace oomplan
