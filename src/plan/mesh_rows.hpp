// Rows of the table of facts: how several ranks share the run.
#pragma once

#include <array>

#include "fact_row.hpp"
#include "matters.hpp"

namespace oomplan::planning {

using enum Bucket;

inline constexpr std::array mesh_rows{
    fact<&Plan::mesh, &MeshFacts::world_size, as::positive>(
        "world_size",
        {"processes that train one model, a GPU each, on all machines; where nothing is said, `ranks`", {}, has_ranks}),
    fact<&Plan::mesh, &MeshFacts::sharding, as::sharding>(
        "sharding", {"DistributedDataParallel; `fully_shard` on units of the model; FullyShardedDataParallel around "
                     "them; the stages of DeepSpeed's ZeRO. Where nothing is said, `ddp` if `world_size` is above 1",
                     {{{gathered, 2}, {communication, 2}}},
                     is_shared}),
    fact<&Plan::mesh, &MeshFacts::tensor_parallel, as::positive>(
        "tensor_parallel", {"GPUs that share each matrix of a block, by torch's `parallelize_module`: q, k, v, gate "
                            "and up by columns, o and "
                            "down by rows, embedding and head by the vocabulary. `world_size` is a multiple of it",
                            {{{weights, 2}, {activations, 2}}},
                            is_tensor_parallel}),
    fact<&Plan::mesh, &MeshFacts::sequence_parallel, as::boolean>(
        "sequence_parallel",
        {"each of them has its part of the tokens between the matrices", {{{activations, 3}}}, is_tensor_parallel}),
    fact<&Plan::mesh, &MeshFacts::loss_parallel, as::boolean>(
        "loss_parallel",
        {"each of them has the logits of its part of the vocabulary", {{{logits_and_loss, 2}}}, is_tensor_parallel}),
    fact<&Plan::mesh, &MeshFacts::context_parallel, as::positive>(
        "context_parallel",
        {"GPUs that have a part of each row's tokens each, by torch's `context_parallel`: head and tail parts, with "
         "ring attention between them. FSDP2 shards over them too; `world_size` is a multiple of it, and "
         "`sequence_length` of twice it",
         {{{activations, 2}, {logits_and_loss, 2}}},
         is_context_parallel}),
    fact<&Plan::mesh, &MeshFacts::context_rotation, as::context_rotation>(
        "context_rotation",
        {"how each of them sees the keys and values of the others (`set_rotate_method`): all at once, or from each to "
         "the next",
         {{{activations, 3}}},
         is_context_parallel}),
    fact<&Plan::mesh, &MeshFacts::pipeline_parallel, as::positive>(
        "pipeline_parallel",
        {"GPUs that have some of the layers each, by `torch.distributed.pipelining`: the first stage has the embedding "
         "too, the last one the last norm and the head. `world_size` is a multiple of it",
         {{{weights, 2}, {activations, 2}}},
         is_pipelined}),
    fact<&Plan::mesh, &MeshFacts::pipeline_schedule, as::pipeline_schedule>(
        "pipeline_schedule",
        {"the order in which stages take micro-batches: `ScheduleGPipe`, `Schedule1F1B`, `ScheduleLoopedBFS`, "
         "`ScheduleInterleaved1F1B`, `ScheduleInterleavedZeroBubble`, `ScheduleZBVZeroBubble`",
         {{{activations, 3}}},
         is_pipelined}),
    fact<&Plan::mesh, &MeshFacts::pipeline_stages, as::positive>(
        "pipeline_stages", {"stages of a GPU, of the schedules that take several", {}, is_pipelined}),
    fact<&Plan::mesh, &MeshFacts::pipeline_layers, as::numbers>(
        "pipeline_layers", {"how many layers each stage has, from the first on; none: stage i of n has those from "
                            "round(i·L/n) to round((i+1)·L/n)",
                            {},
                            is_pipelined}),
    fact<&Plan::mesh, &MeshFacts::pipeline_micro_batches, as::positive>(
        "pipeline_micro_batches",
        {"micro-batches that a step of the schedule is given at once, each of `micro_batch_size` rows",
         {{{activations, 3}, {communication, 2}}},
         is_pipelined}),
    fact<&Plan::mesh, &MeshFacts::pipeline_outputs, as::boolean>(
        "pipeline_outputs",
        {"the last stage keeps the outputs of all micro-batches, and returns them in one (`return_outputs`)",
         {{{logits_and_loss, 2}}},
         is_pipelined}),
    fact<&Plan::mesh, &MeshFacts::sync_each, as::boolean>(
        "sync_each_micro_batch",
        {"gradients are reduced in each micro-batch, else only in the last before a step (`no_sync`, "
         "`set_requires_gradient_sync`)",
         {},
         [](const Plan& plan) { return is_shared(plan) && plan.batch.gradient_accumulation_steps.value > 1; }}),
    fact<&Plan::mesh, &MeshFacts::ddp_bucket_mib, as::positive>("ddp_bucket_mib",
                                                                {"DDP's `bucket_cap_mb`", {}, is_ddp}),
    fact<&Plan::mesh, &MeshFacts::ddp_bucket_views, as::boolean>(
        "ddp_bucket_views", {"DDP's `gradient_as_bucket_view`", {{{communication, 1}}}, is_ddp}),
    fact<&Plan::mesh, &MeshFacts::ddp_find_unused, as::boolean>("ddp_find_unused",
                                                                {"DDP's `find_unused_parameters`", {}, is_ddp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_units, as::shard_units>(
        "fsdp_units",
        {"what is gathered at once: each block, and all else; or as accelerate has it, with units of the "
         "embedding and of the last norm with the head, which stays whole from forward to backward; or "
         "as Axolotl has it, blocks with units of each of LoRA's matrices; or as torchtitan has it, "
         "accelerate's around checkpoints; or as LLaMA-Factory's second trainer has it, Axolotl's with a "
         "unit of the embedding where the head is another. Under FSDP1 `blocks` with `fsdp_orig_params` is "
         "a policy of blocks alone, as Lightning's: an adapter is part of its block's flat parameter, "
         "whose gradient is as large as what is frozen in it; without that, and of `accelerate`, it is peft's policy, "
         "which wraps an adapter's layers by themselves",
         {{{gathered, 4}}},
         is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_classes, as::names>(
        "fsdp_classes",
        {"the classes of modules that are to be units (`transformer_layer_cls_to_wrap`); none: the model's blocks",
         {},
         [](const Plan& plan) { return is_fsdp(plan) && !plan.mesh.fsdp_classes.value.empty(); }}),
    fact<&Plan::mesh, &MeshFacts::fsdp_modules, as::names>(
        "fsdp_modules",
        {"the modules outside the blocks that are units of their own, by name (torchtune's `custom_sharded_layers`)",
         {},
         [](const Plan& plan) { return is_fsdp2(plan) && !plan.mesh.fsdp_modules.value.empty(); }}),
    fact<&Plan::mesh, &MeshFacts::fsdp_param_dtype, as::mixed_dtype>(
        "fsdp_param_dtype", {"MixedPrecisionPolicy's `param_dtype`: what ops are given", {{{gathered, 3}}}, is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_reduce_dtype, as::mixed_dtype>(
        "fsdp_reduce_dtype", {"its `reduce_dtype`; `as_held`: the gradients' own", {{{communication, 3}}}, is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_output_dtype, as::mixed_dtype>(
        "fsdp_output_dtype", {"its `output_dtype`: what units return", {}, is_fsdp2}),
    fact<&Plan::mesh, &MeshFacts::fsdp_fp32_trained, as::boolean>(
        "fsdp_fp32_trained", {"what is trained is held in fp32, whatever `weights_dtype`: accelerate's, where there is "
                              "mixed precision",
                              {{{optimizer, 4}}},
                              is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_loads_whole, as::boolean>(
        "fsdp_loads_whole", {"each GPU holds the model whole before `fully_shard` takes it apart", {}, is_fsdp2}),
    fact<&Plan::mesh, &MeshFacts::fsdp_first_loads, as::boolean>(
        "fsdp_first_loads",
        {"`cpu_ram_efficient_loading`: the first rank of a machine alone loads the weights", {}, is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_full_state, as::boolean>(
        "fsdp_full_state", {"`FULL_STATE_DICT`: the first rank gathers what is saved on the host", {}, is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_offload, as::boolean>(
        "fsdp_offload", {"shards, their gradients and their optimizer's state are on the host", {}, is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_pin, as::boolean>(
        "fsdp_pin", {"what is on the host is page-locked (`CPUOffloadPolicy`'s `pin_memory`)",
                     {},
                     [](const Plan& plan) { return is_fsdp2(plan) && plan.mesh.fsdp_offload.value; }}),
    fact<&Plan::mesh, &MeshFacts::fsdp_prefetch, as::backward_prefetch>(
        "fsdp_prefetch", {"FSDP1's `backward_prefetch`: the next unit is gathered before the gradients of the one at "
                          "work, after them, or not ahead",
                          {{{gathered, 5}}},
                          is_fsdp1}),
    fact<&Plan::mesh, &MeshFacts::fsdp_orig_params, as::boolean>("fsdp_orig_params",
                                                                 {"FSDP1's `use_orig_params`", {}, is_fsdp1}),
    fact<&Plan::mesh, &MeshFacts::fsdp_reshard, as::reshard>(
        "fsdp_reshard", {"`reshard_after_forward`: left out, true, false, a number (`fsdp_reshard_ranks`)",
                         {{{gathered, 1}}},
                         is_fsdp}),
    fact<&Plan::mesh, &MeshFacts::fsdp_reshard_ranks, as::positive>(
        "fsdp_reshard_ranks",
        {"the ranks over which `smaller` keeps parameters sharded until backward",
         {},
         [](const Plan& plan) { return is_fsdp2(plan) && plan.mesh.fsdp_reshard.value == Reshard::smaller; }}),
    fact<&Plan::mesh, &MeshFacts::fsdp_replicas, as::positive>(
        "fsdp_replicas", {"groups of ranks that hold the same shards (HSDP)",
                          {},
                          [](const Plan& plan) { return is_fsdp(plan) && plan.mesh.fsdp_replicas.value > 1; }}),
    fact<&Plan::mesh, &MeshFacts::fsdp_reshard_unreduced, as::boolean>(
        "fsdp_reshard_unreduced", {"`set_reshard_after_backward` in micro-batches that are not reduced",
                                   {},
                                   [](const Plan& plan) { return is_fsdp2(plan) && !plan.mesh.sync_each.value; }}),
    fact<&Plan::mesh, &MeshFacts::zero_dtype, as::mixed_dtype>(
        "zero_dtype", {"what DeepSpeed's engine casts the model to (`bf16`, `fp16`); `as_held`: neither is on, and the "
                       "model has to be fp32",
                       {{{weights, 3}}},
                       is_zero}),
    fact<&Plan::mesh, &MeshFacts::zero_reduce_bucket, as::elements>(
        "zero_reduce_bucket", {"`reduce_bucket_size`: how many elements of gradients are reduced at once; `auto`: as "
                               "transformers' integration makes it of the model's hidden size",
                               {{{communication, 1}}},
                               is_zero}),
    fact<&Plan::mesh, &MeshFacts::zero_overlap, as::boolean>(
        "zero_overlap", {"`overlap_comm`: there are two such buckets", {{{communication, 2}}}, is_zero}),
    fact<&Plan::mesh, &MeshFacts::zero_contiguous, as::boolean>(
        "zero_contiguous", {"`contiguous_gradients`: gradients are copied to the bucket as they come", {}, is_zero}),
    fact<&Plan::mesh, &MeshFacts::zero_reduce_scatter, as::boolean>("zero_reduce_scatter",
                                                                    {"`reduce_scatter`", {}, is_zero_1_or_2}),
    fact<&Plan::mesh, &MeshFacts::zero_round_robin, as::boolean>(
        "zero_round_robin",
        {"`round_robin_gradients`: neighbouring parameters are of different ranks' partitions", {}, is_zero_1_or_2}),
    fact<&Plan::mesh, &MeshFacts::zero_decay_groups, as::boolean>(
        "zero_decay_groups", {"the optimizer has norms and biases in a group of their own, as transformers' Trainer "
                              "makes it, of which ZeRO keeps a flat tensor each",
                              {},
                              is_zero}),
    fact<&Plan::mesh, &MeshFacts::zero_offload_optimizer, as::boolean>(
        "zero_offload_optimizer",
        {"`offload_optimizer`: fp32 weights and the optimizer's state are on the host", {{{optimizer, 2}}}, is_zero}),
    fact<&Plan::mesh, &MeshFacts::zero_replaces_optimizer, as::boolean>(
        "zero_replaces_optimizer",
        {"`zero_force_ds_cpu_optimizer`: what is offloaded is stepped by DeepSpeed's CPUAdam or CPULion, as accelerate "
         "puts it in the optimizer's place",
         {},
         offloads_zero_optimizer}),
    fact<&Plan::mesh, &MeshFacts::zero_offload_params, as::boolean>(
        "zero_offload_params",
        {"`offload_param`: the shards of parameters are on the host", {{{weights, 4}}}, is_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_pin_optimizer, as::boolean>(
        "zero_pin_optimizer", {"`pin_memory` of `offload_optimizer`", {}, offloads_zero_optimizer}),
    fact<&Plan::mesh, &MeshFacts::zero_pin_params, as::boolean>(
        "zero_pin_params", {"`pin_memory` of `offload_param`",
                            {},
                            [](const Plan& plan) { return is_zero3(plan) && plan.mesh.zero_offload_params.value; }}),
    fact<&Plan::mesh, &MeshFacts::zero_gathers_to_save, as::boolean>(
        "zero_gathers_to_save",
        {"`stage3_gather_16bit_weights_on_model_save`: the first rank gathers the model on the host", {}, is_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_prefetch, as::elements>(
        "zero_prefetch",
        {"`stage3_prefetch_bucket_size`: elements of parameters that are gathered ahead", {{{gathered, 4}}}, is_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_persistence, as::elements>(
        "zero_persistence", {"`stage3_param_persistence_threshold`: smaller parameters stay whole", {}, is_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_reference_prefetch, as::elements>(
        "zero_reference_prefetch",
        {"the same of a model that is only asked; auto: as of the one that is trained", {}, asks_at_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_reference_persistence, as::elements>(
        "zero_reference_persistence",
        {"the same of a model that is only asked; auto: as of the one that is trained", {}, asks_at_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_model_persistence, as::count>(
        "zero_model_persistence",
        {"`stage3_model_persistence_threshold`: the most elements of such ones; 0: no limit", {}, is_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_max_live, as::count>(
        "zero_max_live",
        {"`stage3_max_live_parameters`: elements up to which is gathered ahead", {{{gathered, 2}}}, is_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_max_reuse, as::count>(
        "zero_max_reuse", {"`stage3_max_reuse_distance`: what is used again within so many elements stays whole",
                           {{{gathered, 3}}},
                           is_zero3}),
    fact<&Plan::mesh, &MeshFacts::zero_sub_group, as::count>(
        "zero_sub_group", {"`sub_group_size`: elements of the shard that the optimizer takes at once", {}, is_zero3}),
};

}  // namespace oomplan::planning
