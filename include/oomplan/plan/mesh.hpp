// How a run is spread over ranks: the facts of it, each with where it came from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/setting.hpp"

namespace oomplan {

/// How a run is spread over processes with a GPU each. ddp: torch.nn.parallel.DistributedDataParallel. fsdp2:
/// torch.distributed.fsdp.fully_shard on units of the model. fsdp1: FullyShardedDataParallel around them. zero1, zero2,
/// zero3: the stages of DeepSpeed's ZeRO.
enum class Sharding : std::uint8_t { none, ddp, fsdp2, fsdp1, zero1, zero2, zero3 };
inline constexpr std::array<std::string_view, 7> sharding_names{"none",  "ddp",   "fsdp2", "fsdp1",
                                                                "zero1", "zero2", "zero3"};
constexpr bool is_zero(Sharding sharding) { return sharding >= Sharding::zero1; }
constexpr bool is_fsdp(Sharding sharding) { return sharding == Sharding::fsdp2 || sharding == Sharding::fsdp1; }

/// Of a number of elements that transformers' integration of DeepSpeed makes of the model's hidden size ("auto").
inline constexpr std::int64_t by_hidden_size = -1;

/// What is gathered and reduced together. blocks: each block, and all else. accelerate: each block, the embedding, the
/// last norm with the head, and all else (accelerate/utils/fsdp_utils.py: fsdp2_prepare_model). torchtitan: the same,
/// around checkpoints, where reshard_after_forward is the last one's too (models/llama3/infra/parallelize.py).
/// llamafactory: each block, each of LoRA's matrices, the embedding where the head is another, and all else
/// (v1/plugins/trainer_plugins/distributed/fsdp2.py: prepare_model).
enum class ShardUnits : std::uint8_t { blocks, accelerate, adapters, torchtitan, llamafactory };
inline constexpr std::array<std::string_view, 5> shard_units_names{"blocks", "accelerate", "adapters", "torchtitan",
                                                                   "llamafactory"};
/// Whether the last norm and the head are a unit.
constexpr bool has_tail_unit(ShardUnits units) {
  return units == ShardUnits::accelerate || units == ShardUnits::torchtitan;
}

/// What fully_shard does with a block's parameters after its forward pass (reshard_after_forward). automatic: all
/// blocks, but not the root. all: the root too. smaller: they stay sharded over fewer ranks.
enum class Reshard : std::uint8_t { automatic, all, never, smaller };
inline constexpr std::array<std::string_view, 4> reshard_names{"auto", "all", "never", "smaller"};

/// A dtype of fully_shard's MixedPrecisionPolicy; as_held: None, nothing is cast.
enum class MixedDType : std::uint8_t { as_held, fp32, bf16, fp16 };
inline constexpr std::array<std::string_view, 4> mixed_dtype_names{"as_held", "fp32", "bf16", "fp16"};

/// When FSDP1 gathers a unit's parameters for backward: before the unit ahead of it, after it, or as it is reached.
enum class BackwardPrefetch : std::uint8_t { none, pre, post };
inline constexpr std::array<std::string_view, 3> backward_prefetch_names{"none", "pre", "post"};

/// In which order stages of a model take micro-batches (torch.distributed.pipelining): forward of all and then backward
/// of all; of each stage in turn (looped_bfs, of several stages a rank); one forward, one backward, of one stage a rank
/// or of several; with backward parted into that of inputs and that of weights, of stages in turn or there and back.
enum class PipelineSchedule : std::uint8_t { gpipe, one_f_one_b, looped_bfs, interleaved, zero_bubble, zbv };
inline constexpr std::array<std::string_view, 6> pipeline_schedule_names{
    "gpipe", "1f1b", "looped_bfs", "interleaved_1f1b", "interleaved_zero_bubble", "zbv_zero_bubble"};
/// Whether a rank may have several stages.
constexpr bool has_many_stages(PipelineSchedule schedule) { return schedule >= PipelineSchedule::looped_bfs; }
/// Whether the gradients of weights are made apart from those of inputs.
constexpr bool parts_backward(PipelineSchedule schedule) { return schedule >= PipelineSchedule::zero_bubble; }

/// How ranks that share rows see the keys and values of the others: all are gathered, or each rank's are handed on to
/// the next (torch.distributed.tensor.experimental: set_rotate_method).
enum class ContextRotation : std::uint8_t { allgather, alltoall };
inline constexpr std::array<std::string_view, 2> context_rotation_names{"allgather", "alltoall"};

/// The ranks that train one model, and how they share it.
struct MeshFacts {
  Setting<std::int64_t> world_size{};  ///< Processes, a GPU each.
  Setting<Sharding> sharding{};
  Setting<std::int64_t> tensor_parallel{};  ///< Ranks that share each matrix of a block; 1: none do.
  Setting<bool> sequence_parallel{};        ///< Each of them has its part of the tokens between the matrices.
  Setting<bool> loss_parallel{};            ///< Each of them has the logits of its part of the vocabulary.
  Setting<std::int64_t>
      context_parallel{};  ///< Ranks that have a part of each row's tokens each; 1: each has whole rows.
  Setting<ContextRotation> context_rotation{};
  Setting<std::int64_t> pipeline_parallel{};  ///< Ranks that have some of the layers each; 1: all have all.
  Setting<PipelineSchedule> pipeline_schedule{};
  Setting<std::int64_t> pipeline_stages{};  ///< Of a rank: parts of the model, each of consecutive layers.
  /// The layers of each stage, in their order; none: as evenly as may be.
  Setting<std::vector<std::string>> pipeline_layers{};
  Setting<std::int64_t> pipeline_micro_batches{};  ///< That a step of the schedule is given at once.
  Setting<bool> pipeline_outputs{};                ///< The last stage's are kept and returned (return_outputs).
  Setting<bool> sync_each{};  ///< Gradients are reduced in every micro-batch, else in the last before a step (no_sync).
  Setting<std::int64_t> ddp_bucket_mib{};  ///< DDP's bucket_cap_mb.
  Setting<bool> ddp_bucket_views{};        ///< DDP's gradient_as_bucket_view.
  Setting<bool> ddp_find_unused{};         ///< DDP's find_unused_parameters.
  Setting<ShardUnits> fsdp_units{};        ///< Of FSDP2; FSDP1's are blocks.
  /// The classes that are asked to be units; none: those that the model names (_no_split_modules).
  Setting<std::vector<std::string>> fsdp_classes{};
  /// Modules outside the blocks that are units of their own, by name (torchtune's custom_sharded_layers).
  Setting<std::vector<std::string>> fsdp_modules{};
  Setting<std::int64_t> fsdp_replicas{};       ///< Groups of ranks that hold the same shards (HSDP); 1: none.
  Setting<Reshard> fsdp_reshard{};             ///< reshard_after_forward
  Setting<std::int64_t> fsdp_reshard_ranks{};  ///< Over which `smaller` shards.
  Setting<bool> fsdp_reshard_unreduced{};   ///< After a backward pass without reduction (set_reshard_after_backward).
  Setting<MixedDType> fsdp_param_dtype{};   ///< In which ops are given parameters.
  Setting<MixedDType> fsdp_reduce_dtype{};  ///< In which gradients are reduced.
  Setting<MixedDType> fsdp_output_dtype{};  ///< Of what units return.
  Setting<bool> fsdp_fp32_trained{};        ///< What is trained is held in fp32, whatever it is loaded in.
  Setting<bool> fsdp_loads_whole{};         ///< FSDP2: each GPU has the model whole before it is sharded.
  Setting<bool> fsdp_first_loads{};  ///< cpu_ram_efficient_loading: a machine's first rank alone loads the weights.
  Setting<bool> fsdp_full_state{};   ///< FULL_STATE_DICT: the first rank gathers what is saved.
  Setting<bool> fsdp_offload{};      ///< Shards, their gradients and their optimizer's state are on the host.
  Setting<bool> fsdp_pin{};          ///< … in page-locked memory.
  Setting<BackwardPrefetch> fsdp_prefetch{};  ///< FSDP1's backward_prefetch.
  Setting<bool> fsdp_orig_params{};           ///< FSDP1's use_orig_params.
  Setting<MixedDType> zero_dtype{};        ///< In which DeepSpeed's engine holds the model (bf16, fp16); as_held: fp32.
  Setting<bool> zero_decay_groups{};       ///< The optimizer has norms and biases in a group of their own.
  Setting<bool> zero_offload_optimizer{};  ///< offload_optimizer: to the host.
  Setting<bool> zero_replaces_optimizer{};  ///< zero_force_ds_cpu_optimizer: on the host DeepSpeed's optimizer steps.
  Setting<bool> zero_offload_params{};      ///< offload_param: to the host. Of stage 3, as what follows `contiguous`.
  Setting<bool> zero_pin_optimizer{};       ///< offload_optimizer's pin_memory
  Setting<bool> zero_pin_params{};          ///< offload_param's
  Setting<bool> zero_gathers_to_save{};     ///< stage3_gather_16bit_weights_on_model_save
  Setting<std::int64_t> zero_reduce_bucket{};  ///< reduce_bucket_size: elements, or by_hidden_size.
  Setting<bool> zero_overlap{};                ///< overlap_comm
  Setting<bool> zero_contiguous{};             ///< contiguous_gradients
  Setting<bool> zero_reduce_scatter{};
  Setting<bool> zero_round_robin{};          ///< round_robin_gradients
  Setting<std::int64_t> zero_prefetch{};     ///< stage3_prefetch_bucket_size: elements, or by_hidden_size.
  Setting<std::int64_t> zero_persistence{};  ///< stage3_param_persistence_threshold: elements, or by_hidden_size.
  Setting<std::int64_t> zero_reference_prefetch{};     ///< The same of a model that is only asked, where it is another.
  Setting<std::int64_t> zero_reference_persistence{};  ///< The same; of both by_hidden_size: as the trained model's.
  Setting<std::int64_t> zero_model_persistence{};      ///< stage3_model_persistence_threshold: elements; 0: no limit.
  Setting<std::int64_t> zero_max_live{};               ///< stage3_max_live_parameters: elements.
  Setting<std::int64_t> zero_max_reuse{};              ///< stage3_max_reuse_distance: elements.
  Setting<std::int64_t> zero_sub_group{};              ///< sub_group_size: elements.
  friend bool operator==(const MeshFacts&, const MeshFacts&) = default;
};

/// Whether ranks have some of the layers each.
inline bool is_pipelined(const MeshFacts& mesh) { return mesh.pipeline_parallel.value > 1; }

/// Whether ranks have a part of each row's tokens each.
inline bool is_context_parallel(const MeshFacts& mesh) { return mesh.context_parallel.value > 1; }

/// Ranks that hold the same layers and the same part of each matrix, which tokens are spread over; 0 where the ranks
/// that share one model are more than there are.
inline std::int64_t data_ranks(const MeshFacts& mesh) {
  const auto of = [](const Setting<std::int64_t>& ranks) { return std::max<std::int64_t>(ranks.value, 1); };
  return mesh.world_size.value / of(mesh.tensor_parallel) / of(mesh.pipeline_parallel);
}

/// Whether each rank holds all of the model and of the optimizer's state, which nothing shards.
inline bool holds_whole(const MeshFacts& mesh) {
  return mesh.sharding.value == Sharding::none || mesh.sharding.value == Sharding::ddp;
}

}  // namespace oomplan
