// The table of facts: each is read as it is written, and the order in which gates name them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oomplan/plan/fact_table.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Values of every type; a fact takes those that are its own.
const std::vector<std::string> values{"true",
                                      "false",
                                      "1",
                                      "4096",
                                      "0.5",
                                      "0",
                                      "a/b",
                                      "[a, b]",
                                      "fp32",
                                      "bf16",
                                      "fp16",
                                      "sft",
                                      "eager",
                                      "nf4",
                                      "lora",
                                      "none",
                                      "spawn",
                                      "device",
                                      "host",
                                      "host_of_several",
                                      "unknown",
                                      "mapped",
                                      "int32",
                                      "sdpa",
                                      "fp4",
                                      "bytes",
                                      "as_base",
                                      "chunked_logprob",
                                      "full_logits",
                                      "checkpoint",
                                      "stream",
                                      "[512, 64]",
                                      "\"\"",
                                      "fork",
                                      "dpo",
                                      "reference_free",
                                      "reward",
                                      "kto",
                                      "forkserver",
                                      "flash_attention_2",
                                      "flash_or_sdpa",
                                      "torch_linear",
                                      "torchao",
                                      "lightning",
                                      "bitsandbytes",
                                      "list",
                                      "numpy",
                                      "arrow",
                                      "int8",
                                      "int64",
                                      "int16",
                                      "supervised",
                                      "plain",
                                      "olora",
                                      "pissa_niter",
                                      "ddp",
                                      "fsdp2",
                                      "adapters",
                                      "torchtitan",
                                      "llamafactory",
                                      "inputs",
                                      "products",
                                      "fsdp1",
                                      "blocks",
                                      "accelerate",
                                      "pre",
                                      "post",
                                      "uint8",
                                      "auto",
                                      "all",
                                      "never",
                                      "smaller",
                                      "as_held",
                                      "adapter_off",
                                      "model",
                                      "precomputed",
                                      "liger_fused_linear",
                                      "liger_0_8_0_fused_linear",
                                      "cut_cross_entropy",
                                      "unsloth_fused",
                                      "xformers",
                                      "buffered",
                                      "dynamic_fine_tuning",
                                      "streamed",
                                      "streamed_clones",
                                      "synchronous",
                                      "grouped_mm",
                                      "scattermoe",
                                      "batched_mm",
                                      "any",
                                      "balanced",
                                      "unknown",
                                      "summed",
                                      "folded",
                                      "grpo",
                                      "language_model",
                                      "sequence_classifier",
                                      "token_classifier",
                                      "image_classifier",
                                      "question_answering",
                                      "multiple_choice",
                                      "on_host",
                                      "on_device",
                                      "forward",
                                      "reverse",
                                      "mixed",
                                      "last",
                                      "first",
                                      "accuracy",
                                      "row_entropy",
                                      "entropy",
                                      "copied_entropy",
                                      "shifted_entropy",
                                      "labels",
                                      "by_row",
                                      "grouped",
                                      "logits",
                                      "replaced_logits",
                                      "raised_logits",
                                      "at_once",
                                      "cut",
                                      "held",
                                      "copies",
                                      "references",
                                      "returned",
                                      "repeated",
                                      "copied",
                                      "gpipe",
                                      "allgather",
                                      "alltoall",
                                      "1f1b",
                                      "looped_bfs",
                                      "interleaved_1f1b",
                                      "interleaved_zero_bubble",
                                      "zbv_zero_bubble",
                                      "elsewhere",
                                      "transformers",
                                      "vllm",
                                      "mean",
                                      "cls",
                                      "max",
                                      "last_token",
                                      "[temperature, top_p]"};

bool read(const FactRow& row, const std::string& value, TrainingPlan& plan) {
  const auto document = parse_document("key: " + value + "\n", "c.yaml", Syntax::yaml);
  return document && row.read(*document->root.find("key"), {}, plan);
}

TEST(FactTable, AFactIsReadAsItIsWritten) {
  for (const FactRow& row : facts()) {
    std::set<std::string> written;
    for (const std::string& value : values) {
      TrainingPlan plan;
      if (!read(row, value, plan)) continue;
      TrainingPlan again;
      ASSERT_TRUE(read(row, row.write(plan), again)) << row.name << ": " << row.write(plan);
      EXPECT_EQ(again, plan) << row.name;
      written.insert(row.write(plan));
    }
    EXPECT_GE(written.size(), std::max<std::size_t>(row.choices.size() > 6 ? 2 : row.choices.size(), 1)) << row.name;
  }
}

TEST(FactTable, AFactChangesItsOwnMemberOnly) {
  for (const FactRow& row : facts()) {
    TrainingPlan plan;
    for (const std::string& value : values) {
      if (read(row, value, plan) && plan != TrainingPlan()) break;
    }
    EXPECT_NE(plan, TrainingPlan()) << row.name;
    for (const FactRow& other : facts()) {
      if (&other == &row) continue;
      EXPECT_EQ(other.write(plan), other.write(TrainingPlan())) << row.name << " and " << other.name;
    }
  }
}

TEST(FactTable, NamesAndSentencesAreThere) {
  std::set<std::string_view> names;
  for (const FactRow& row : facts()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.about.empty()) << row.name;
    EXPECT_EQ(find_fact(row.name), &row);
  }
  EXPECT_EQ(find_fact("micro_batch"), nullptr);
}

std::vector<std::string_view> that_move(Bucket bucket) {
  std::vector<std::string_view> out;
  for (const FactRow* row : facts_that_move(bucket)) out.push_back(row->name);
  return out;
}

TEST(FactTable, WhatMovesABucketComesStrongestFirst) {
  EXPECT_THAT(that_move(Bucket::weights),
              ElementsAre("quantization", "quantized_experts", "checkpoint_bytes", "adapter", "tensor_parallel",
                          "pipeline_parallel", "weights_dtype", "zero_dtype", "teacher", "zero_offload_params",
                          "modules_to_save", "model"));
  EXPECT_THAT(that_move(Bucket::optimizer),
              ElementsAre("optimizer", "adapter", "zero_offload_optimizer", "weights_dtype", "trained_layers",
                          "fsdp_fp32_trained", "modules_to_save", "frozen_parameters", "model"));
  EXPECT_THAT(that_move(Bucket::gradients),
              ElementsAre("adapter", "weights_dtype", "optimizer_in_backward", "trained_layers", "modules_to_save",
                          "frozen_parameters", "model"));
  EXPECT_THAT(that_move(Bucket::activations),
              ElementsAre("sequence_length", "micro_batch_size", "tensor_parallel", "context_parallel",
                          "pipeline_parallel", "images", "clips", "columns", "cached_rows", "gradient_checkpointing",
                          "checkpoint_every", "checkpoint_keeps", "sequence_parallel", "context_rotation",
                          "pipeline_schedule", "pipeline_micro_batches", "activation_offload", "attention", "dora",
                          "experts_implementation", "model"));
  EXPECT_THAT(that_move(Bucket::attention_scores),
              ElementsAre("attention", "sequence_length", "micro_batch_size", "older_gpu", "columns", "model"));
  EXPECT_THAT(that_move(Bucket::logits_and_loss),
              ElementsAre("sequence_length", "micro_batch_size", "loss_parallel", "context_parallel",
                          "pipeline_outputs", "columns", "loss", "model", "teacher"));
  EXPECT_THAT(that_move(Bucket::autocast_copies), ElementsAre("autocast", "weights_dtype", "model"));
  EXPECT_THAT(that_move(Bucket::temporaries), ElementsAre("sequence_length", "micro_batch_size", "columns", "optimizer",
                                                          "experts_implementation", "model"));
  EXPECT_THAT(that_move(Bucket::inputs),
              ElementsAre("sequence_length", "micro_batch_size", "images", "clips", "columns", "model"));
  EXPECT_THAT(that_move(Bucket::slack),
              ElementsAre("alloc_conf", "sequence_length", "micro_batch_size", "columns", "model"));
  EXPECT_THAT(that_move(Bucket::fragmentation),
              ElementsAre("alloc_conf", "sequence_length", "micro_batch_size", "columns", "model"));
  EXPECT_THAT(that_move(Bucket::paged), ElementsAre("optimizer", "adapter", "model"));
  EXPECT_THAT(that_move(Bucket::gathered),
              ElementsAre("fsdp_reshard", "sharding", "zero_max_live", "fsdp_param_dtype", "zero_max_reuse",
                          "fsdp_units", "zero_prefetch", "fsdp_prefetch", "model"));
  EXPECT_THAT(that_move(Bucket::communication),
              ElementsAre("ddp_bucket_views", "zero_reduce_bucket", "sharding", "pipeline_micro_batches",
                          "zero_overlap", "fsdp_reduce_dtype", "model"));
  EXPECT_THAT(that_move(Bucket::runtime), ElementsAre("vllm_share", "model"));
}

std::vector<std::string_view> without_effect(const TrainingPlan& plan) {
  std::vector<std::string_view> out;
  for (const FactRow& row : facts()) {
    if (!row.of_mesh && !row.matters(plan)) out.push_back(row.name);
  }
  return out;
}

TEST(FactTable, FactsMatterWhereSomethingAsksForThem) {
  TrainingPlan plan;
  EXPECT_THAT(without_effect(plan), testing::IsSupersetOf({"lengths", "lora_rank", "double_quantization", "evaluates",
                                                           "reentrant_checkpointing", "loader_start"}));
  plan.adapter.kind.value = Adapter::lora;
  plan.adapter.modules_to_save.value = {"lm_head"};
  plan.adapter.dora.value = true;
  plan.adapter.target_parameters.value = {"experts.down_proj"};
  plan.quantization.kind.value = Quantization::nf4;
  plan.checkpointing.on.value = true;
  plan.batch.lengths.value = {512, 64, 2048};
  plan.evaluation.evaluates.value = true;
  plan.loader.workers.value = 2;
  plan.loader.rows_as.value = RowsAs::stream;
  plan.recipe.kind.value = RecipeKind::kto;
  plan.recipe.reference_rows.value = 4;
  plan.kernels.liger_glu.value = plan.kernels.older_gpu.value = true;
  plan.recipe.trained.value = {"lm_head"};
  plan.precision.backward_in_autocast.value = true;
  plan.precision.trained_to_fp32.value = plan.saving.saves.value = true;
  plan.images.token_types.value = true;
  plan.recipe.frozen.value = {"vision_tower"};
  EXPECT_THAT(without_effect(plan), testing::IsSupersetOf({"images", "image_height", "image_width"}));
  EXPECT_THAT(without_effect(plan), testing::Not(testing::Contains("image_token_types")));
  plan.images.count.value = 1;
  plan.images.token_types.value = true;
  plan.quantization.skipped.value = {"lm_head", "mamba"};
  plan.quantization.storage.value = QuantStorage::bf16;
  plan.checkpointing.wrapped.value = true;
  plan.checkpointing.offload.value = Offload::streamed;
  plan.kernels.scan_packages.value = true;
  // Of no Trainer; where images are; of torchtune; not DPO's; of no FSDP; as training's.
  const std::vector<std::string_view> none{"head",
                                           "labels",
                                           "choices",
                                           "vocabulary",
                                           "mean_resizing",
                                           "target_length",
                                           "clips",
                                           "clip_milliseconds",
                                           "image_token_types",
                                           "max_steps",
                                           "columns",
                                           "anchor_length",
                                           "cached_rows",
                                           "pooling",
                                           "normalized",
                                           "dense_width",
                                           "rollout_batches",
                                           "rollout_iterations",
                                           "generation",
                                           "vllm_share",
                                           "vllm_sleeps",
                                           "sampling",
                                           "joined_rows",
                                           "teacher",
                                           "teacher_dtype",
                                           "divergence",
                                           "lora_layers",
                                           "lora_layers_pattern",
                                           "lora_init",
                                           "ia3_feedforward",
                                           "oft_block_size",
                                           "adapter_input_gradients",
                                           "quantized_experts",
                                           "dequantized",
                                           "quantization_storage",
                                           "checkpoint_bytes",
                                           "fake_quantization_group",
                                           "checkpoint_every",
                                           "checkpoint_place",
                                           "checkpoint_keeps",
                                           "loss_part",
                                           "optimizer_in_backward",
                                           "trained_layers",
                                           "layer_parts",
                                           "cache_kind",
                                           "logit_shift",
                                           "pair_scores",
                                           "token_metrics",
                                           "label_smoothing",
                                           "router_loss",
                                           "neftune",
                                           "fused_norm_rope",
                                           "unsloth_layers",
                                           "sdpa_keys",
                                           "additive_mask",
                                           "rotary_in_layers"};
  const auto and_also = [&](std::initializer_list<std::string_view> more) {
    std::vector<std::string_view> out = none;
    out.insert(out.end(), more);
    return testing::ElementsAreArray(out);
  };
  EXPECT_THAT(without_effect(plan), and_also({"evaluation_rows", "evaluation_length"}));
  plan.evaluation.rows.value = 8;
  plan.evaluation.length.value = 64;
  EXPECT_THAT(without_effect(plan), and_also({}));
  plan.loader.map_processes.value = 4;
  EXPECT_THAT(without_effect(plan), and_also({"loader_map_a_core"}));
}

std::vector<std::string_view> of_mesh(const TrainingPlan& plan) {
  std::vector<std::string_view> out;
  for (const FactRow& row : facts()) {
    if (row.of_mesh && row.matters(plan)) out.push_back(row.name);
  }
  return out;
}

TEST(FactTable, FactsOfTheMeshMatterByTheWayThatRanksShare) {
  TrainingPlan plan;
  EXPECT_THAT(of_mesh(plan), IsEmpty());
  plan.mesh.tensor_parallel.value = 2;
  EXPECT_THAT(of_mesh(plan), ElementsAre("world_size", "tensor_parallel", "sequence_parallel", "loss_parallel"));
  plan.mesh.tensor_parallel.value = 1;
  plan.mesh.context_parallel.value = 2;
  EXPECT_THAT(of_mesh(plan), ElementsAre("world_size", "context_parallel", "context_rotation"));
  plan.mesh.context_parallel.value = 1;
  plan.mesh.pipeline_parallel.value = 2;
  EXPECT_THAT(of_mesh(plan), ElementsAre("world_size", "pipeline_parallel", "pipeline_schedule", "pipeline_stages",
                                         "pipeline_layers", "pipeline_micro_batches", "pipeline_outputs"));
  plan.mesh.pipeline_parallel.value = 1;
  plan.mesh.sharding.value = Sharding::ddp;
  plan.batch.gradient_accumulation_steps.value = 2;
  EXPECT_THAT(of_mesh(plan), ElementsAre("world_size", "sharding", "sync_each_micro_batch", "ddp_bucket_mib",
                                         "ddp_bucket_views", "ddp_find_unused"));
  plan.mesh.sharding.value = Sharding::fsdp2;
  plan.mesh.fsdp_reshard.value = Reshard::smaller;
  plan.mesh.fsdp_replicas.value = 2;
  EXPECT_THAT(of_mesh(plan),
              ElementsAre("world_size", "sharding", "sync_each_micro_batch", "fsdp_units", "fsdp_param_dtype",
                          "fsdp_reduce_dtype", "fsdp_output_dtype", "fsdp_fp32_trained", "fsdp_loads_whole",
                          "fsdp_first_loads", "fsdp_full_state", "fsdp_offload", "fsdp_reshard", "fsdp_reshard_ranks",
                          "fsdp_replicas", "fsdp_reshard_unreduced"));
  plan.mesh.sharding.value = Sharding::fsdp1;
  EXPECT_THAT(of_mesh(plan),
              ElementsAre("world_size", "sharding", "sync_each_micro_batch", "fsdp_units", "fsdp_param_dtype",
                          "fsdp_reduce_dtype", "fsdp_fp32_trained", "fsdp_first_loads", "fsdp_full_state",
                          "fsdp_offload", "fsdp_prefetch", "fsdp_orig_params", "fsdp_reshard", "fsdp_replicas"));
}

TEST(FactTable, ValuesAreShownAsReportsHaveThem) {
  TrainingPlan plan;
  plan.batch.lengths.value = {512, 64, 2048};
  plan.precision.autocast.value = Autocast::bf16;
  EXPECT_EQ(find_fact("lengths")->value(plan), FactValue(std::string("3 steps of 64 to 2048 tokens")));
  EXPECT_EQ(find_fact("autocast")->value(plan), FactValue(std::string("bf16")));
  EXPECT_EQ(find_fact("lora_rank")->value(plan), FactValue(std::int64_t{0}));
}

}  // namespace
}  // namespace oomplan
