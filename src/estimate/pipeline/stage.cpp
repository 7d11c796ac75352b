#include "pipeline/stage.hpp"

#include <utility>

#include "oomplan/core/bytes.hpp"
#include "policies/mixed_dtype.hpp"

namespace oomplan::estimator {
namespace {

/// A phase of a step, to the end of what its function holds.
class InPhase {
 public:
  InPhase(Torch& torch, Phase phase) : torch_(torch) { torch.recorder.mark(phase); }
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;
  ~InPhase() { torch_.recorder.mark(Phase::between); }

 private:
  Torch& torch_;
};

}  // namespace

PipelineStage::PipelineStage(Stage& run, const Model& model, Place place, std::int64_t micro_batches)
    : run_(run),
      torch_(run.torch()),
      model_(model),
      place_(place),
      keeps_outputs_(run.plan().mesh.pipeline_outputs.value),
      inputs_(at(micro_batches)),
      output_gradients_(at(micro_batches)),
      forwarded_(at(micro_batches)),
      input_gradients_(at(micro_batches)),
      parted_(at(micro_batches)) {}

Tensor PipelineStage::buffer(std::int64_t width) const {
  const Facts& facts = run_.facts();
  const MeshFacts& mesh = run_.plan().mesh;
  const bool mixed = mesh.sharding.value == Sharding::fsdp2;
  const DType dtype = mixed ? resolved(mesh.fsdp_param_dtype.value).value_or(facts.weights) : facts.weights;
  const std::int64_t shared = mesh.sequence_parallel.value ? mesh.tensor_parallel.value : 1;
  return torch_.empty({facts.batch, facts.length / shared, width}, dtype, "aten::empty_strided");
}

void PipelineStage::make_inputs(std::int64_t width) {
  if (place_.first) return;
  Restore bucket(torch_.recorder.scope.bucket, Bucket::communication);
  for (Tensor& input : inputs_) input = buffer(width);
}

void PipelineStage::make_output_gradients(std::int64_t width) {
  if (place_.last) return;
  Restore bucket(torch_.recorder.scope.bucket, Bucket::communication);
  for (Tensor& gradient : output_gradients_) gradient = buffer(width);
}

void PipelineStage::clear() {
  outputs_.clear();
  for (Tensor& input : inputs_) {
    if (input) input->grad.reset();
  }
}

/// The forward function of the stage's module.
Tensor PipelineStage::output_of(Play& play, const Tensor& input) const {
  Stream s;
  (place_.first ? s.input_ids : s.hidden) = input;
  model_.base(play, s);
  if (!place_.last) return s.hidden;
  InBucket bucket(torch_, Bucket::logits_and_loss);
  const Tensor entered = play.policy.enter_module(torch_, Site::head, model_.head->prepare(play, s.hidden));
  s.hidden.reset();
  return play.policy.leave_module(torch_, Site::head, model_.head->logits_of_part(play, entered));
}

Tensor PipelineStage::forward(std::int64_t micro_batch, const Tensor& ids) {
  const InPhase phase(torch_, Phase::forward);
  Chunk& chunk = forwarded_[at(micro_batch)];
  chunk.input = place_.first ? ids : inputs_[at(micro_batch)];
  if (!place_.first) chunk.input->requires_grad = true;
  Play play{torch_, run_.facts(), *model_.policy};
  chunk.output = output_of(play, play.policy.enter_stage(torch_, chunk.input));
  play.policy.leave_model(torch_, {&chunk.output});
  if (keeps_outputs()) outputs_.push_back(chunk.output);
  return chunk.output;
}

void PipelineStage::run_backward(const Chunk& chunk, const Tensor& loss, const Tensor& gradient) const {
  if (place_.last) {
    torch_.backward(loss);
  } else {
    torch_.backward_from(chunk.output, gradient);
  }
  model_.policy->finish(torch_);
}

/// The last stage's output, which its caller is still to be given, is taken out of the graph.
void PipelineStage::let_go_of_graph(const Chunk& chunk) const {
  if (!place_.last || place_.first || chunk.output->base) return;
  chunk.output->grad_fn.reset();
  chunk.output->requires_grad = false;
}

void PipelineStage::backward(std::int64_t micro_batch, const Tensor& loss, bool last) {
  const InPhase phase(torch_, Phase::backward);
  const Chunk chunk = std::exchange(forwarded_[at(micro_batch)], {});
  model_.policy->begin(torch_, last);
  run_backward(chunk, loss, output_gradients_[at(micro_batch)]);
  if (!place_.first) input_gradients_[at(micro_batch)] = std::exchange(chunk.input->grad, {});
  let_go_of_graph(chunk);
}

/// The first stage has no input that asks for a gradient: all is left to backward_weight.
void PipelineStage::backward_input(std::int64_t micro_batch, const Tensor& loss) {
  const InPhase phase(torch_, Phase::backward);
  Parted& parted = parted_[at(micro_batch)];
  parted.chunk = std::exchange(forwarded_[at(micro_batch)], {});
  parted.gradient = place_.last ? Tensor() : output_gradients_[at(micro_batch)];
  if (!place_.first) {
    Tensor& input = parted.chunk.input;
    const Tensor root = place_.last ? loss : parted.chunk.output;
    const Tensor given = place_.last ? torch_.empty(loss->sizes, loss->dtype, "aten::ones_like") : parted.gradient;
    parted.weights = backward_of_inputs(torch_, root, given, input, model_.parameters);
    input_gradients_[at(micro_batch)] = input->grad;
    let_go_of_graph(parted.chunk);
    if (place_.last) parted.chunk.output.reset();
  }
}

void PipelineStage::backward_weight(std::int64_t micro_batch) {
  const InPhase phase(torch_, Phase::backward);
  Parted parted = std::exchange(parted_[at(micro_batch)], {});
  if (place_.first) {
    run_backward(parted.chunk, {}, parted.gradient);
  } else {
    backward_of_weights(torch_, parted.weights);
  }
}

Tensor PipelineStage::take_input_gradient(std::int64_t micro_batch) {
  return std::exchange(input_gradients_[at(micro_batch)], {});
}

void PipelineStage::receive_input(std::int64_t micro_batch, const Tensor& output) {
  inputs_[at(micro_batch)] = torch_.detach(output);
}

void PipelineStage::receive_gradient(std::int64_t micro_batch, Tensor gradient) {
  output_gradients_[at(micro_batch)] = std::move(gradient);
}

void PipelineStage::reduce() {
  const InPhase phase(torch_, Phase::backward);
  model_.policy->reduce(torch_);
}

Tensor PipelineStage::merged() {
  if (outputs_.empty()) return {};
  InBucket bucket(torch_, Bucket::logits_and_loss);
  Dims sizes = outputs_.front()->sizes;
  sizes[0] = saturating_mul(sizes[0], std::ssize(outputs_));
  return torch_.empty(sizes, outputs_.front()->dtype, "aten::cat");
}

}  // namespace oomplan::estimator
