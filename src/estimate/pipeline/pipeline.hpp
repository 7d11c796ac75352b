// A step of a pipeline's schedule on one rank (torch 2.13.0, torch/distributed/pipelining/schedules.py).
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/order.hpp"
#include "pipeline/stage.hpp"

namespace oomplan::estimator {

class Pipeline {
 public:
  /// Of the stages in `run`, which `rank` has. `width`: of what they hand on.
  Pipeline(Stage& run, const PipelineShape& shape, std::int64_t rank, std::int64_t width);

  /// schedule.step(…): all micro-batches, to the end of their gradients.
  void step();

 private:
  void perform(const PipelineAction& action);
  void forward(PipelineStage& stage, std::int64_t micro_batch);
  void send_gradient(PipelineStage& stage, std::int64_t micro_batch);
  void lose(const Tensor& logits, std::int64_t micro_batch);
  Tensor part(const Tensor& batch, std::int64_t micro_batch) const;
  Tensor loss_of(std::int64_t micro_batch) const;
  PipelineStage* find(std::int64_t index);
  bool holds(bool PipelineStage::Place::*end) const;

  Stage& run_;
  Torch& torch_;
  PipelineShape shape_;
  std::int64_t width_;
  std::vector<PipelineAction> order_;
  std::vector<PipelineStage> stages_{};
  bool made_ = false;
  Tensor ids_{};  ///< Of all micro-batches, which the loop's variables hold until the next ones are there.
  Tensor labels_{};
  std::vector<Tensor> losses_{};
  Tensor output_{};  ///< What the variables of schedules of one stage hold: the last micro-batch's output,
  Tensor sent_{};    ///< … and the gradient that was sent last.
};

}  // namespace oomplan::estimator
