// MeshBound of pipelines: what each rank holds of its stages.
#include <algorithm>
#include <vector>

#include "bounds.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/estimate/stages.hpp"
#include "oomplan/survey/meshes.hpp"

namespace oomplan {

using survey::least_element;
using survey::part;
using survey::times;

namespace {

/// Of what lies outside the layers the last norm is less than such a part.
constexpr std::int64_t small_part = 8;

Bytes without(Bytes bytes, Bytes what) { return bytes > what ? bytes - what : Bytes(); }

/// What a rank has done when it first goes back.
struct WarmUp {
  std::int64_t flying = 0;      ///< Micro-batches of one stage or another whose activations it holds.
  bool all_go_back = true;      ///< Each of its stages goes back once before the last forward pass.
  bool more_come_back = false;  ///< It goes forward again after that.
};

/// schedules.py: Schedule1F1B, ScheduleGPipe, _get_1f1b_rank_ops.
WarmUp warm_up(const MeshLayout& layout, std::int64_t rank) {
  const MeshShape& shape = layout.shape;
  const std::int64_t all = layout.micro_batches * shape.stages_each;
  if (shape.schedule == PipelineSchedule::gpipe) return {.flying = all};
  const std::int64_t behind = shape.pipeline - 1 - rank;
  if (shape.stages_each == 1) {
    const std::int64_t flying = std::min(all, behind + 1);
    return {.flying = flying, .more_come_back = flying < all};
  }
  const std::int64_t round = layout.micro_batches / std::max<std::int64_t>(1, layout.micro_batches / shape.pipeline);
  const std::int64_t ahead = std::min(all, (shape.stages_each - 1) * round + 2 * behind);
  return {.flying = std::min(all, ahead + 1), .all_go_back = ahead + (shape.stages_each - 1) * round < all};
}

/// The layers of each stage; of a dialect that cuts in its own way as many as every stage has.
std::vector<std::int64_t> layers_of_stages(const MeshShape& shape, std::int64_t layers, bool cut_by_layers) {
  const auto stages = static_cast<std::size_t>(shape.stages());
  if (!cut_by_layers) return std::vector<std::int64_t>(stages, layers / shape.stages());
  MeshFacts mesh;
  mesh.pipeline_parallel.value = shape.pipeline;
  mesh.pipeline_stages.value = shape.stages_each;
  const std::vector<std::int64_t> cuts = pipeline_cuts(mesh, layers);
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < stages; ++i) out.push_back(cuts[i + 1] - cuts[i]);
  return out;
}

}  // namespace

/// Stages are of whole layers. The first has the embedding beside them, the last the norm and the head; where both are
/// one weight, each has it. Inputs and gradients of all micro-batches are received in buffers that stay; whole weights
/// and gradients are kept from a stage's first backward pass to its last (stage.py, backward_maybe_with_nosync).
Bytes MeshBound::least_in_stages(const MeshLayout& layout, const Pair& pair) const {
  const MeshShape& shape = layout.shape;
  const std::int64_t others = question_.architecture.layers - 1;
  const std::int64_t parts = shape.pipeline * shape.shards();
  Bytes out = part(pair.one.stepped + times(pair.layer.stepped, others), parts);
  if (pair.layer.states == Bytes()) return out;

  const bool sharded = shape.shards() > 1;
  const std::vector<std::int64_t> layers =
      layers_of_stages(shape, question_.architecture.layers, question_.ingest.dialect == "oomplan");
  const std::int64_t tokens = saturating_mul(layout.micro_batch, pair.length);
  const Bytes handed_on(saturating_mul(tokens, least_element * width_of(question_.architecture)));
  const Bytes logits(saturating_mul(tokens, least_element * vocabulary_of(question_.architecture)) /
                     (shape.loss ? shape.tensor : 1));
  const auto at_end = [&](Bytes all) { return all - part(all, small_part); };
  const auto whole = [&](std::int64_t Anchor::*what, std::int64_t of_layers, bool is_an_end) {
    if (!sharded || pair.quantized) return Bytes();
    const Bytes end(is_an_end ? (pair.one.*what - pair.layer.*what) / 2 * least_element : 0);
    return part(times(Bytes(least_element * pair.layer.*what), of_layers) + at_end(end), shape.tensor);
  };

  for (std::int64_t rank = 0; rank < shape.pipeline; ++rank) {
    const bool first = rank == 0;
    const bool last = rank + 1 == shape.pipeline;
    std::int64_t of_rank = 0;
    std::int64_t of_stage = question_.architecture.layers;
    for (std::int64_t i = 0; i < shape.stages_each; ++i) {
      const std::int64_t count = layers[static_cast<std::size_t>(i * shape.pipeline + rank)];
      of_rank += count;
      of_stage = std::min(of_stage, count);
    }
    const auto held = [&](Bytes Anchor::*what) {
      const Bytes end = first || last ? part(pair.one.*what - pair.layer.*what, 2) : Bytes();
      return part(times(pair.layer.*what, of_rank) + at_end(end), shape.shards());
    };
    const std::int64_t ends = (first ? 1 : 0) + (last ? 1 : 0);
    const Bytes received = times(handed_on, layout.micro_batches * (2 * shape.stages_each - ends));
    // What a stage receives is its first layer's input; what it hands on is held until it comes back. What the
    // embedding gives has no gradient where it is frozen, and the first layer saves less.
    const bool is_part_frozen = pair.layer.trained < pair.layer.elements;
    Bytes kept = times(pair.layer.kept, first && is_part_frozen ? of_stage - 1 : of_stage);
    if (last) kept = without(kept, handed_on);
    if (first && shape.stages_each == 1) kept += handed_on;
    const WarmUp warm = warm_up(layout, rank);
    const bool all_at_once = shape.schedule == PipelineSchedule::gpipe;
    const Bytes lost = last ? times(logits, all_at_once ? layout.micro_batches : 1) : Bytes();
    const Bytes gathered =
        whole(&Anchor::elements, shape.kept ? of_rank : of_stage, shape.stages_each == 1 && ends > 0);
    const std::int64_t gone_back = warm.all_go_back ? of_rank : of_stage;
    const Bytes gradients =
        sharded ? whole(&Anchor::trained, gone_back, false) : times(pair.layer.gradients, gone_back);
    const Bytes always = held(&Anchor::states) + received;
    const Bytes losing = always + times(kept, warm.flying) + lost +
                         (shape.kept && shape.stages_each == 1 ? gathered : Bytes()) +
                         (warm.more_come_back ? gradients : Bytes());
    const Bytes returned = always + times(kept, warm.flying - 1) + gathered + gradients;
    out = std::max({out, losing, returned, held(&Anchor::stepped) + received});
    if (last && pair.outputs) out = std::max(out, always + times(logits, layout.micro_batches));
  }
  return out;
}

}  // namespace oomplan
