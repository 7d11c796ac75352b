// mesh_cost: as step_cost, with what tensor and pipeline parallel ranks wait for.
#include <algorithm>

#include "../traffic.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/survey/meshes.hpp"

namespace oomplan {
namespace {

class MeshCost {
 public:
  MeshCost(const MeshLayout& layout, const TrainingPlan& plan, const MeshModel& model, const Gpu& gpu,
           const LayoutWorld& world)
      : layout_(layout), plan_(plan), model_(model), gpu_(gpu), world_(world) {
    moved_ = survey::moved_of(plan, model.parameters);
    times_ = static_cast<double>(layout.micro_batches);
    hidden_ = static_cast<double>(layout.micro_batch * plan.batch.sequence_length.value * model.width) * moved_.trained;
  }

  StepCost cost() const {
    const double data = within_shards() + across_replicas();
    const double moved = data + by_tensors() + by_stages();
    StepCost out{.moved = Bytes(static_cast<std::int64_t>(moved))};
    const bool piped_or_shared = shape_.tensor > 1 || shape_.pipeline > 1;
    const bool known = gpu_.speed && !model_.parameters.mixture && (model_.width > 0 || !piped_or_shared);
    if (!known || plan_.recipe.kind.value != RecipeKind::supervised) return out;
    const double waited = by_tensors() / speed(gpu_.speed->link) + by_stages() / speed(between_stages());
    const double beside = within_shards() / speed(of_shards()) + across_replicas() / speed(of_replicas());
    out.seconds = std::max((computing() + waited) * (1 + bubble()), beside);
    return out;
  }

 private:
  static double speed(double of_maker) { return of_maker * survey::giga * survey::reached_of_links; }

  /// The layers of the rank that has most.
  double layers() const { return static_cast<double>(divided_up(model_.layers, shape_.stages()) * shape_.stages_each); }
  /// Of the model, by its layers.
  double share() const {
    return shape_.pipeline == 1 ? 1 : std::min(1.0, layers() / static_cast<double>(model_.layers));
  }
  double of_rank(double elements) const { return elements * share() / static_cast<double>(shape_.tensor); }

  double all() const { return static_cast<double>(model_.parameters.all); }
  double trained() const { return static_cast<double>(model_.parameters.trained); }
  double weights() const { return of_rank(moved_.frozen * (all() - trained()) + moved_.trained * trained()); }
  double gradients() const { return of_rank(moved_.gradient * trained()); }

  /// The last micro-batch of a pipeline alone reduces (torch/distributed/pipelining/stage.py).
  double reduces() const { return plan_.mesh.sync_each.value && shape_.pipeline == 1 ? times_ : 1; }

  /// Where blocks are kept, stages gather once a step: set_reshard_after_backward is off but for the last micro-batch.
  double gathers() const {
    if (!shape_.kept) return 2 * times_;
    return shape_.pipeline == 1 ? times_ : 1;
  }

  double within_shards() const {
    if (shape_.sharding == Sharding::ddp) return survey::part_of_others(shape_.data) * 2 * reduces() * gradients();
    if (shape_.sharding != Sharding::fsdp2) return 0;
    return survey::part_of_others(shape_.shards()) * (gathers() * weights() + reduces() * gradients());
  }

  double across_replicas() const {
    if (shape_.sharding != Sharding::fsdp2) return 0;
    return survey::part_of_others(shape_.replicas) * 2 * reduces() * gradients() / static_cast<double>(shape_.shards());
  }

  /// All-reduces of hidden states, two a layer forward and two backward, and two more where it is computed again (arXiv
  /// 1909.08053, section 3); a gather and a scatter in place of each by parts of rows move as much (arXiv 2205.05198,
  /// section 4.2.2). Of the embedding one forward, of the head one backward; whole logits are gathered.
  double by_tensors() const {
    if (shape_.tensor == 1) return 0;
    const double of_layers = layers() * (layout_.checkpointing ? 6 : 4);
    const double reduced = (of_layers + 2) * 2 * hidden_;
    const double logits =
        shape_.loss ? 0
                    : static_cast<double>(layout_.micro_batch * plan_.batch.sequence_length.value * model_.vocabulary) *
                          moved_.trained;
    return times_ * survey::part_of_others(shape_.tensor) * (reduced + logits);
  }

  /// What a stage is sent: hidden states forward and their gradients backward.
  double by_stages() const {
    return shape_.pipeline == 1 ? 0 : 2 * times_ * static_cast<double>(shape_.stages_each) * hidden_;
  }

  /// Idle beside the work (arXiv 2104.04473, section 2.2). Of fewer micro-batches than stages each waits for the one
  /// before it in all parts of all stages.
  double bubble() const {
    const auto stages = static_cast<double>(shape_.pipeline);
    const auto parts = static_cast<double>(shape_.stages_each);
    const double slots = times_ < stages ? parts * stages + times_ - 1 : parts * times_ + stages - 1;
    return slots / (parts * times_) - 1;
  }

  double computing() const {
    const double tokens = times_ * static_cast<double>(layout_.micro_batch * plan_.batch.sequence_length.value);
    const double passes = layout_.checkpointing ? 3 : 2;
    return 2 * tokens * of_rank(passes * all() + trained()) /
           (gpu_.speed->operations * survey::tera * survey::reached_of_operations);
  }

  // Ranks stand in the order of torchtitan's mesh (distributed/parallel_dims.py): those that share matrices next to
  // each other, then shards, replicas and stages.
  double of_shards() const {
    const std::int64_t sharing = shape_.sharding == Sharding::ddp ? shape_.data : shape_.shards();
    if (shape_.tensor * sharing <= world_.each) return gpu_.speed->link;
    // On rings side by side they enter a machine by the network cards of all its GPUs.
    return std::min(gpu_.speed->link,
                    world_.network * static_cast<double>(world_.each) / static_cast<double>(shape_.tensor));
  }
  double of_replicas() const {
    return shape_.tensor * shape_.data <= world_.each ? gpu_.speed->link : std::min(gpu_.speed->link, world_.network);
  }
  double between_stages() const {
    return world_.machines == 1 ? gpu_.speed->link : std::min(gpu_.speed->link, world_.network);
  }

  const MeshLayout& layout_;
  const MeshShape& shape_ = layout_.shape;
  const TrainingPlan& plan_;
  const MeshModel& model_;
  const Gpu& gpu_;
  const LayoutWorld& world_;
  survey::Moved moved_{};
  double times_ = 1;
  double hidden_ = 0;  ///< Bytes of the hidden states of a micro-batch.
};

}  // namespace

StepCost mesh_cost(const MeshLayout& layout, const TrainingPlan& plan, const MeshModel& model, const Gpu& gpu,
                   const LayoutWorld& world) {
  return MeshCost(layout, plan, model, gpu, world).cost();
}

}  // namespace oomplan
