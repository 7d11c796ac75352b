// A stage of a pipeline on its rank (torch 2.13.0, torch/distributed/pipelining/stage.py: PipelineStage). Names are
// theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "recipe.hpp"
#include "torch/parted_backward.hpp"

namespace oomplan::estimator {

class PipelineStage {
 public:
  struct Place {
    std::int64_t index = 0;
    bool first = false;
    bool last = false;
  };

  PipelineStage(Stage& run, const Model& model, Place place, std::int64_t micro_batches);

  const Place& place() const { return place_; }
  const Model& model() const { return model_; }
  bool keeps_outputs() const { return place_.last && keeps_outputs_; }

  /// _prepare_forward_infra, _prepare_backward_infra: what activations and gradients of all micro-batches are received
  /// in, with a plan's rows of `width`.
  void make_inputs(std::int64_t width);
  void make_output_gradients(std::int64_t width);
  /// clear_runtime_states
  void clear();

  /// forward_one_chunk: what the stage's module makes of `ids`, its part of the batch, or of what was received.
  Tensor forward(std::int64_t micro_batch, const Tensor& ids);
  /// backward_one_chunk, of the loss in the last stage. `last`: of the micro-batches.
  void backward(std::int64_t micro_batch, const Tensor& loss, bool last);
  void backward_input(std::int64_t micro_batch, const Tensor& loss);
  void backward_weight(std::int64_t micro_batch);
  /// get_bwd_send_ops: the gradient of what was received.
  Tensor take_input_gradient(std::int64_t micro_batch);
  /// set_local_fwd_input, set_local_bwd_input: from a neighbour on the same rank.
  void receive_input(std::int64_t micro_batch, const Tensor& output);
  void receive_gradient(std::int64_t micro_batch, Tensor gradient);
  /// perform_reduce_grad
  void reduce();
  /// The merged output, where this stage keeps them.
  Tensor merged();

 private:
  struct Chunk {
    Tensor input{};
    Tensor output{};
  };
  struct Parted {
    Chunk chunk{};
    Tensor gradient{};
    PartedBackward weights{};
  };
  static std::size_t at(std::int64_t micro_batch) { return static_cast<std::size_t>(micro_batch); }
  Tensor buffer(std::int64_t width) const;
  Tensor output_of(Play& play, const Tensor& input) const;
  void run_backward(const Chunk& chunk, const Tensor& loss, const Tensor& gradient) const;
  void let_go_of_graph(const Chunk& chunk) const;

  Stage& run_;
  Torch& torch_;
  const Model& model_;
  Place place_;
  bool keeps_outputs_;
  std::vector<Tensor> inputs_;            ///< args_recv_info
  std::vector<Tensor> output_gradients_;  ///< grad_recv_info
  std::vector<Chunk> forwarded_;          ///< fwd_cache
  std::vector<Tensor> input_gradients_;   ///< bwd_cache
  std::vector<Parted> parted_;            ///< backward_state
  std::vector<Tensor> outputs_{};         ///< output_chunks
};

}  // namespace oomplan::estimator
