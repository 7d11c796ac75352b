// FSDP2's parameter groups: what is gathered, given back and reduced, and when (torch 2.13: torch/distributed/fsdp/
// _fully_shard: _fsdp_param_group.py, _fsdp_collectives.py, _fsdp_param.py). Names are theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oomplan/plan/plan.hpp"
#include "parameter.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

/// FSDPParam.
struct Fsdp2Parameter {
  Parameter* parameter = nullptr;
  std::optional<DType> reduce_dtype{};  ///< Where its gradients have to be cast.
  Tensor output{};                      ///< all_gather_outputs: the parameter's memory while it is whole.
  Tensor smaller{};                     ///< _sharded_post_forward_param_data
  Tensor accumulated{};                 ///< unsharded_accumulated_grad

  bool casts() const { return parameter->whole->dtype != parameter->held->dtype; }
};

class Fsdp2Groups;

/// FSDPParamGroup and the FSDPState that it belongs to. Its hook is on what the module returns.
struct Fsdp2Group final : NodeHook {
  enum class State : std::uint8_t { idle, forward, pre_backward, post_backward };

  explicit Fsdp2Group(Fsdp2Groups& owner) : groups(owner) {}
  void before(Torch& t) override;

  Fsdp2Groups& groups;
  std::vector<Fsdp2Parameter> members{};
  unsigned modules_to_run = 0;  ///< _modules_to_run_forward, of a unit of several modules, by Site.
  bool resharded = true;        ///< reshard_after_forward
  State state = State::idle;
  bool whole = false;
  bool gathering = false;               ///< Gathered, and not copied out yet.
  Tensor gathered{};                    ///< _all_gather_result
  Tensor all_reduced{};                 ///< _all_reduce_state
  std::vector<std::size_t> forwards{};  ///< _post_forward_indices
};

/// What all groups of a model share: the order in which they ran, and what their collectives keep.
class Fsdp2Groups {
 public:
  /// `one_unit`: of a model of which one layer alone may be played.
  Fsdp2Groups(const MeshFacts& mesh, bool one_unit)
      : mesh_(mesh), ranks_(data_ranks(mesh) / mesh.fsdp_replicas.value), one_unit_(one_unit) {}

  /// Dimension 0 in chunks, the last ones padded. Rank 0 has one without padding.
  Dims chunk_of(Dims sizes) const;
  /// What of a parameter a shard's chunk holds, without its padding.
  Dims own_of(Dims sizes, std::int64_t shard) const;
  /// DTensor.full_tensor(): an all-gather of padded chunks.
  Tensor full_tensor(Torch& t, const Parameter& p) const;

  /// FSDPModule.unshard()
  void unshard_now(Torch& t, Fsdp2Group& group);
  void pre_forward(Torch& t, Fsdp2Group& group);
  /// What runs again in backward stays whole, and has no place in the order: each unit is a root by itself there, as
  /// the first that runs is (_root_pre_forward).
  void post_forward(Torch& t, Fsdp2Group& group);
  /// The root's forward is over: nothing waits for the last copy out (_post_forward).
  void end_forward() { all_gather_state_.reset(); }

  /// FSDPModule.unshard(async_op=True), which the next forward or backward pass waits for, and reshard().
  void gather(Torch& t, Fsdp2Group& group) { unshard(t, group, false); }
  static void give_back(Fsdp2Group& group);

  /// Of a micro-batch: whether its gradients are reduced, and what is whole is given back. Of a pipeline's neither is,
  /// before all are through.
  void begin(bool last);
  void begin_reduction() { reduce_grads_ = reshard_after_backward_ = true; }
  void reduce(Torch& t, Fsdp2Group& group);
  void pre_backward(Torch& t, Fsdp2Group& group);
  void post_backward(Torch& t, Fsdp2Group& group);
  /// _root_post_backward_final_callback, of each group and then of what they share.
  void finish(Torch& t, Fsdp2Group& group);
  void finish();

 private:
  /// FSDPModule.set_is_last_backward
  bool is_last_backward() const { return !is_pipelined(mesh_) || reduce_grads_; }
  std::int64_t padded_elements(const Fsdp2Parameter& m) const;
  std::int64_t gathered_elements(const Fsdp2Parameter& m) const;
  /// `by_hook`: on a stream of its own (get_all_gather_streams).
  void unshard(Torch& t, Fsdp2Group& group, bool by_hook);
  std::vector<Tensor> moved_inputs(Torch& t, const Fsdp2Group& group) const;
  void foreach_all_gather(Torch& t, Fsdp2Group& group);
  void wait_for_unshard(Torch& t, Fsdp2Group& group);
  void copy_out(Torch& t, Fsdp2Group& group);
  void reshard(Torch& t, Fsdp2Group& group);
  void to_sharded_post_forward(Torch& t, Fsdp2Group& group);
  void prefetch(Torch& t, Fsdp2Group& group);
  void foreach_reduce(Torch& t, Fsdp2Group& group, const std::vector<Fsdp2Parameter*>& members,
                      std::vector<Tensor> gradients);

  const MeshFacts mesh_;
  const std::int64_t ranks_;
  const bool one_unit_;
  bool reduce_grads_ = true;
  bool reshard_after_backward_ = true;
  std::vector<Fsdp2Group*> post_forward_order_{};
  Tensor all_gather_state_{};
  Tensor reduce_scatter_state_{};
};

}  // namespace oomplan::estimator
