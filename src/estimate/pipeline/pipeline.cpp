#include "pipeline/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "objective.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::estimator {

Pipeline::Pipeline(Stage& run, const PipelineShape& shape, std::int64_t rank, std::int64_t width)
    : run_(run), torch_(run.torch()), shape_(shape), width_(width), order_(pipeline_order(shape, rank)) {
  const std::vector<std::int64_t> indices = stages_of_rank(shape, rank);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const PipelineStage::Place place{indices[i], indices[i] == 0, indices[i] + 1 == shape.stages()};
    stages_.emplace_back(run, run.models()[i].model, place, shape.micro_batches);
  }
}

PipelineStage* Pipeline::find(std::int64_t index) {
  const auto found = std::ranges::find_if(stages_, [&](const PipelineStage& s) { return s.place().index == index; });
  return found == stages_.end() ? nullptr : &*found;
}

bool Pipeline::holds(bool PipelineStage::Place::*end) const {
  return std::ranges::any_of(stages_, [&](const PipelineStage& s) { return s.place().*end; });
}

/// torch.tensor_split
Tensor Pipeline::part(const Tensor& batch, std::int64_t micro_batch) const {
  const std::int64_t rows = run_.facts().batch;
  return batch ? torch_.slice(batch, 0, micro_batch * rows, rows) : Tensor();
}

Tensor Pipeline::loss_of(std::int64_t micro_batch) const {
  return losses_.empty() ? Tensor() : losses_[static_cast<std::size_t>(micro_batch)];
}

void Pipeline::step() {
  torch_.recorder.mark(Phase::between);
  {
    Restore bucket(torch_.recorder.scope.bucket, Bucket::inputs);
    const Dims sizes{saturating_mul(run_.facts().batch, shape_.micro_batches), run_.facts().length};
    if (holds(&PipelineStage::Place::first)) ids_ = torch_.empty(sizes, DType::int64, "batch");
    if (holds(&PipelineStage::Place::last)) labels_ = torch_.empty(sizes, DType::int64, "batch");
  }
  for (PipelineStage& stage : stages_) stage.clear();
  if (!std::exchange(made_, true)) {
    for (PipelineStage& stage : stages_) stage.make_inputs(width_);
    for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) stage->make_output_gradients(width_);
  }
  for (const PipelineAction& action : order_) perform(action);
  output_.reset();
  sent_.reset();
  for (PipelineStage& stage : stages_) stage.merged();
  losses_.clear();
}

void Pipeline::perform(const PipelineAction& action) {
  using Kind = PipelineAction::Kind;
  PipelineStage& stage = *find(action.stage);
  const bool last = action.micro_batch + 1 == shape_.micro_batches;
  switch (action.kind) {
    case Kind::forward:
      return forward(stage, action.micro_batch);
    case Kind::backward:
      if (shape_.schedule == PipelineSchedule::gpipe) sent_.reset();
      stage.backward(action.micro_batch, loss_of(action.micro_batch), last);
      return send_gradient(stage, action.micro_batch);
    case Kind::backward_input:
      stage.backward_input(action.micro_batch, loss_of(action.micro_batch));
      return send_gradient(stage, action.micro_batch);
    case Kind::backward_weight:
      return stage.backward_weight(action.micro_batch);
    case Kind::unshard:
      return stage.model().policy->unshard_all(torch_);
    case Kind::reshard:
      return stage.model().policy->reshard_all(torch_);
    case Kind::reduce:
      return stage.reduce();
  }
}

void Pipeline::forward(PipelineStage& stage, std::int64_t micro_batch) {
  const Tensor output = stage.forward(micro_batch, part(ids_, micro_batch));
  if (!has_many_stages(shape_.schedule)) output_ = output;
  if (stage.place().last) lose(output, micro_batch);
  if (PipelineStage* next = find(stage.place().index + 1)) next->receive_input(micro_batch, output);
}

void Pipeline::send_gradient(PipelineStage& stage, std::int64_t micro_batch) {
  Tensor gradient = stage.take_input_gradient(micro_batch);
  if (PipelineStage* previous = find(stage.place().index - 1))
    return previous->receive_gradient(micro_batch, std::move(gradient));
  if (!has_many_stages(shape_.schedule)) sent_ = std::move(gradient);
}

/// loss_fn(output, target): the trainer's own of logits, or that of a causal language model as transformers has it.
void Pipeline::lose(const Tensor& logits, std::int64_t micro_batch) {
  torch_.recorder.mark(Phase::loss);
  {
    InBucket bucket(torch_, Bucket::logits_and_loss);
    const Tensor labels = part(labels_, micro_batch);
    const Objective& objective = *run_.facts().objective;
    if (objective.of_logits != nullptr) {
      losses_.push_back(objective.of_logits(torch_, logits, labels, 0));
    } else {
      const Tensor raised = torch_.to(logits, DType::fp32);
      const Tensor shifted = shifted_labels(torch_, labels);
      losses_.push_back(torch_.cross_entropy(torch_.view(raised, {-1, raised->sizes.back()}), shifted));
    }
  }
  torch_.recorder.mark(Phase::between);
}

}  // namespace oomplan::estimator
