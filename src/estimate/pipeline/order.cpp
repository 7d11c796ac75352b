#include "pipeline/order.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace oomplan::estimator {
namespace {

using Kind = PipelineAction::Kind;
using Actions = std::vector<PipelineAction>;

/// ScheduleGPipe
Actions all_then_all(const PipelineShape& shape, std::int64_t rank) {
  Actions out;
  for (const Kind kind : {Kind::forward, Kind::backward}) {
    for (std::int64_t i = 0; i < shape.micro_batches; ++i) out.push_back({kind, rank, i});
  }
  return out;
}

/// Schedule1F1B
Actions one_by_one(const PipelineShape& shape, std::int64_t rank) {
  Actions out;
  const std::int64_t ahead = std::min(shape.micro_batches, shape.ranks - rank);
  for (std::int64_t i = 0; i < shape.micro_batches + ahead; ++i) {
    if (i >= ahead) out.push_back({Kind::backward, rank, i - ahead});
    if (i < shape.micro_batches) out.push_back({Kind::forward, rank, i});
  }
  return out;
}

/// ScheduleLoopedBFS
Actions breadth_first(const PipelineShape& shape, std::int64_t rank) {
  const std::vector<std::int64_t> stages = stages_of_rank(shape, rank);
  Actions out;
  for (const std::int64_t stage : stages) {
    for (std::int64_t i = 0; i < shape.micro_batches; ++i) out.push_back({Kind::forward, stage, i});
  }
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    for (std::int64_t i = shape.micro_batches; i-- > 0;) out.push_back({Kind::backward, *stage, i});
  }
  return out;
}

/// _get_1f1b_rank_ops, of several stages a rank.
class Interleaved {
 public:
  Interleaved(const PipelineShape& shape, std::int64_t rank)
      : shape_(shape), rank_(rank), parted_(parts_backward(shape.schedule)) {
    const std::int64_t rounds = std::max<std::int64_t>(1, shape.micro_batches / shape.ranks);
    of_round_ = shape.micro_batches / rounds;
    all_ = shape.stages_each * shape.micro_batches;
    const std::int64_t hop = parted_ ? 1 : 2;
    ahead_ = std::min((shape.stages_each - 1) * of_round_ + hop * (shape.ranks - 1 - rank), all_);
  }

  Actions actions() {
    for (std::int64_t op = 0; op < all_ + ahead_; ++op) {
      if (op < all_) add(Kind::forward, forward_stage(op));
      if (op < ahead_) continue;
      add(parted_ ? Kind::backward_input : Kind::backward, backward_stage(op));
      if (parted_ && op - ahead_ >= rank_) add_weights();
    }
    while (parted_ && weights_ < all_) add_weights();
    return std::move(out_);
  }

 private:
  std::int64_t forward_stage(std::int64_t op) const {
    return op / of_round_ % shape_.stages_each * shape_.ranks + rank_;
  }
  std::int64_t backward_stage(std::int64_t op) const {
    return (shape_.stages_each - 1 - (op - ahead_) / of_round_ % shape_.stages_each) * shape_.ranks + rank_;
  }
  void add(Kind kind, std::int64_t stage) { out_.push_back({kind, stage, next_[{kind, stage}]++}); }
  void add_weights() { add(Kind::backward_weight, backward_stage(ahead_ + weights_++)); }

  const PipelineShape& shape_;
  std::int64_t rank_;
  bool parted_;
  std::int64_t of_round_ = 1;  ///< microbatches_per_round
  std::int64_t all_ = 0;
  std::int64_t ahead_ = 0;    ///< warmup_ops
  std::int64_t weights_ = 0;  ///< weight_op_count
  std::map<std::pair<Kind, std::int64_t>, std::int64_t> next_{};
  Actions out_{};
};

/// ScheduleZBVZeroBubble, of two stages a rank.
class ThereAndBack {
 public:
  ThereAndBack(const PipelineShape& shape, std::int64_t rank) : shape_(shape), rank_(rank) {}

  Actions actions() {
    const std::int64_t count = std::max(2 * shape_.ranks - 1, shape_.micro_batches);
    times(2 * (shape_.ranks - rank_) - 1, [&] { forward(0); });
    times(rank_, [&] { forward(1), forward(0); });
    times(shape_.ranks - rank_, [&] { forward(1), whole_backward(1); });
    while (forwards_[1] < forwards_[0] || forwards_[0] < count) {
      if (forwards_[0] < count) forward(0);
      whole_backward(0);
      forward(1);
      whole_backward(1);
    }
    times(rank_, [&] { of_inputs(0), of_inputs(1); });
    times(shape_.ranks - rank_, [&] { of_inputs(0), of_weights(0); });
    for (const std::size_t part : {1U, 0U}) {
      while (weights_[part] < inputs_[part]) of_weights(part);
    }
    // What is added to fill the pipeline is taken out again.
    std::erase_if(out_, [&](const PipelineAction& action) { return action.micro_batch >= shape_.micro_batches; });
    return std::move(out_);
  }

 private:
  template <class F>
  static void times(std::int64_t count, const F& f) {
    for (std::int64_t i = 0; i < count; ++i) f();
  }
  std::int64_t stage(std::size_t part) const { return part == 0 ? rank_ : shape_.stages() - 1 - rank_; }
  void forward(std::size_t part) { out_.push_back({Kind::forward, stage(part), forwards_[part]++}); }
  void of_inputs(std::size_t part) { out_.push_back({Kind::backward_input, stage(part), inputs_[part]++}); }
  void of_weights(std::size_t part) { out_.push_back({Kind::backward_weight, stage(part), weights_[part]++}); }
  void whole_backward(std::size_t part) { of_inputs(part), of_weights(part); }

  const PipelineShape& shape_;
  std::int64_t rank_;
  std::array<std::int64_t, 2> forwards_{};
  std::array<std::int64_t, 2> inputs_{};
  std::array<std::int64_t, 2> weights_{};
  Actions out_{};
};

Actions computing(const PipelineShape& shape, std::int64_t rank) {
  switch (shape.schedule) {
    case PipelineSchedule::gpipe:
      return all_then_all(shape, rank);
    case PipelineSchedule::one_f_one_b:
      return one_by_one(shape, rank);
    case PipelineSchedule::looped_bfs:
      return breadth_first(shape, rank);
    case PipelineSchedule::interleaved:
    case PipelineSchedule::zero_bubble:
      return Interleaved(shape, rank).actions();
    case PipelineSchedule::zbv:
      return ThereAndBack(shape, rank).actions();
  }
  return {};
}

/// Of what follows, the stages that come next, each once.
std::vector<std::int64_t> next_stages(const Actions& actions, std::size_t from, std::size_t most) {
  std::vector<std::int64_t> out;
  for (std::size_t i = from; i < actions.size() && out.size() < most; ++i) {
    if (std::ranges::count(out, actions[i].stage) == 0) out.push_back(actions[i].stage);
  }
  return out;
}

/// _add_unshard_reshard
Actions with_unsharding(const Actions& actions) {
  constexpr std::size_t most_active = 3;
  std::set<std::int64_t> active;
  Actions out;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::vector<std::int64_t> next = next_stages(actions, i, most_active);
    for (auto stage = active.begin(); stage != active.end();) {
      const bool stays = std::ranges::count(next, *stage) > 0;
      if (!stays) out.push_back({Kind::reshard, *stage});
      stage = stays ? std::next(stage) : active.erase(stage);
    }
    for (const std::int64_t stage : next) {
      if (active.insert(stage).second) out.push_back({Kind::unshard, stage});
    }
    out.push_back(actions[i]);
  }
  for (const std::int64_t stage : active) out.push_back({Kind::reshard, stage});
  return out;
}

/// _add_reduce_grad: behind the last of a stage's gradients of weights.
Actions with_reductions(const Actions& actions, std::int64_t micro_batches) {
  std::map<std::int64_t, std::int64_t> done;
  Actions out;
  for (const PipelineAction& action : actions) {
    out.push_back(action);
    const bool ends = action.kind == Kind::backward || action.kind == Kind::backward_weight;
    if (ends && ++done[action.stage] == micro_batches) out.push_back({Kind::reduce, action.stage});
  }
  return out;
}

}  // namespace

PipelineShape pipeline_shape(const MeshFacts& mesh) {
  return {mesh.pipeline_schedule.value, mesh.pipeline_parallel.value, mesh.pipeline_stages.value,
          mesh.pipeline_micro_batches.value};
}

std::vector<std::int64_t> stages_of_rank(const PipelineShape& shape, std::int64_t rank) {
  if (shape.schedule == PipelineSchedule::zbv) return {rank, shape.stages() - 1 - rank};
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < shape.stages_each; ++i) out.push_back(i * shape.ranks + rank);
  return out;
}

std::vector<PipelineAction> pipeline_order(const PipelineShape& shape, std::int64_t rank) {
  Actions out = computing(shape, rank);
  if (has_many_stages(shape.schedule)) out = with_unsharding(out);
  return with_reductions(out, shape.micro_batches);
}

}  // namespace oomplan::estimator
