// What a dialect can say it reads back: ingest(write_plan(p)) == p.
#include <gtest/gtest.h>

#include <random>

#include "oomplan/ingest/ingest.hpp"
#include "oomplan/plan/codec.hpp"
#include "oomplan/plan/fact_table.hpp"
#include "rounds.hpp"

namespace oomplan {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  bool flip() { return number(0, 1) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return *(all.begin() + number(0, static_cast<std::int64_t>(all.size()) - 1));
  }

 private:
  std::mt19937 engine_;
};

std::string word(Dice& dice) {
  static const std::string letters = "aZ09-_./ :#'\"\\{}[],&*!|>%@`~\t\xc3\xa9";
  std::string out = dice.one_of<std::string>({"a", "null", "true", "1e3", "0x1f", "- ", "? ", "yes", "~", "1:30", "="});
  for (std::int64_t i = dice.number(0, 8); i > 0; --i) {
    const auto at = static_cast<std::size_t>(dice.number(0, 30));
    out += at < 29 ? std::string(1, letters[at]) : "\xc3\xa9";
  }
  return out;
}

// One process, and what its frameworks would do with more.
MeshFacts trainer_mesh(const TrainingPlan& plan) {
  MeshFacts mesh;
  mesh.world_size.value = mesh.fsdp_replicas.value = mesh.fsdp_reshard_ranks.value = mesh.tensor_parallel.value = 1;
  mesh.pipeline_parallel.value = mesh.pipeline_stages.value = mesh.pipeline_micro_batches.value = 1;
  mesh.context_parallel.value = 1;
  mesh.pipeline_schedule.value = PipelineSchedule::one_f_one_b;
  mesh.pipeline_outputs.value = true;
  mesh.ddp_bucket_mib.value = 25;
  mesh.ddp_find_unused.value = !plan.checkpointing.on.value;
  mesh.fsdp_reshard_unreduced.value = true;
  mesh.fsdp_prefetch.value = BackwardPrefetch::pre;
  return mesh;
}

// What a Trainer's keys can say; the rest is as its reader has it.
LoaderPlan trainer_loader(Dice& dice, const TrainingPlan& plan) {
  const LoaderPlan& any = plan.loader;
  LoaderPlan loader;
  const bool axolotl = plan.dialect == "axolotl";
  for (auto one : {&LoaderPlan::ranks, &LoaderPlan::epochs}) (loader.*one).value = 1;
  loader.workers = any.workers;
  loader.prefetch.value = loader.workers.value > 0 ? any.prefetch.value : 2;
  loader.pin_memory = any.pin_memory;
  if (!axolotl) loader.start = any.start;
  if (!axolotl) loader.persistent = any.persistent;
  loader.map_processes = any.map_processes;
  loader.map_a_core.value = axolotl;
  loader.shuffle.value = true;
  loader.padded.value = true;
  loader.packed.value = axolotl && !plan.batch.padding_mask.value;
  loader.columns.value = axolotl && !plan.batch.padding_mask.value ? 4 : 3;
  loader.rows_as.value = dice.flip() ? RowsAs::stream : RowsAs::mapped;
  const bool buffered = axolotl && loader.rows_as.value == RowsAs::stream;
  loader.shuffle_buffer.value = buffered ? any.shuffle_buffer.value + 1 : 0;
  const bool plain = plan.recipe.trainer.value == "trainer";
  loader.weights_on.value = axolotl ? WeightsOn::device : plain ? WeightsOn::host : WeightsOn::host_of_several;
  loader.weights_before_rows.value = !axolotl;
  loader.libraries.value = {"torch", "transformers", "datasets", "cuda"};
  return loader;
}

// Whatever a plan can hold, but for what is never a plan: quantized weights that are trained.
std::string any_value(const FactRow& row, Dice& dice) {
  if (row.name == "lengths") return dice.one_of<std::string>({"[]", "[7]", "[512, 64, 2048]"});
  if (row.name == "sampling") return dice.one_of<std::string>({"[]", "[top_p]", "[temperature, min_p]"});
  if (row.name == "lora_layers" || row.name == "pipeline_layers")
    return dice.one_of<std::string>({"[]", "[3]", "[0, 17]"});
  if (!row.choices.empty()) {
    return std::string(row.choices[static_cast<std::size_t>(dice.number(0, std::ssize(row.choices) - 1))]);
  }
  static const TrainingPlan defaults;
  switch (row.value(defaults).index()) {
    case 0:
      return std::to_string(dice.number(row.expected.find("0 or more") == row.expected.npos ? 1 : 0, 100'000));
    case 1:
      return dice.one_of<std::string>({"0", "0.05", "0.1", "0.3333333333333333", "1e-07"});
    case 2:
      return dice.flip() ? "true" : "false";
    default:
      return row.expected.find("fp16") == row.expected.npos ? planning::yaml_text(word(dice))
                                                            : dice.one_of<std::string>({"fp32", "bf16", "fp16"});
  }
}

// Every fact with some value of its own.
TrainingPlan any_plan(Dice& dice) {
  TrainingPlan plan;
  plan.dialect = "oomplan";
  plan.framework = word(dice);
  for (const FactRow& row : facts()) {
    const auto value = parse_document(any_value(row, dice), "value", Syntax::yaml);
    EXPECT_TRUE(value && row.read(value->root, {}, plan)) << row.name;
  }
  if (plan.adapter.kind.value == Adapter::none) plan.quantization.kind.value = Quantization::none;
  return plan;
}

std::string modelled_optimizer(Dice& dice) {
  return dice.one_of<std::string>(
      {"adamw_foreach", "adamw_fused", "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit", "adafactor", "sgd"});
}

std::vector<std::string> modules(Dice& dice) {
  return dice.one_of<std::vector<std::string>>({{"all-linear"},
                                                {"q_proj", "v_proj"},
                                                {"q_proj", "k_proj", "v_proj", "o_proj"},
                                                {"gate_proj", "up_proj"},
                                                {"c_attn", "c_proj"}});
}

// What every framework's dialect has in common.
TrainingPlan framework_plan(Dice& dice, const std::string& dialect) {
  TrainingPlan plan = any_plan(dice);
  plan.recipe.trained.value = {};  // A key for it is Axolotl's alone.
  plan.recipe.trained_layers.value = 0;
  plan.recipe.layer_parts.value = {};
  plan.recipe.router_loss.value = plan.recipe.router_loss.value && dialect == "hf";
  plan.recipe.neftune.value = plan.recipe.neftune.value && dialect != "torchtune";
  plan.adapter.input_grads.value = dialect == "axolotl";
  plan.recipe.frozen.value = {};  // Of images no framework's dialect says anything.
  plan.images.count.value = plan.images.clips.value = unknown_images;
  plan.images.clip_milliseconds.value = plan.images.height.value = plan.images.width.value = 0;
  plan.images.tiles.value = 1;
  plan.images.dtype.value = MixedDType::fp32;
  plan.images.token_types.value = false;
  plan.dialect = dialect;
  plan.adapter.targets.value = modules(dice);
  plan.optimizer.name.value = modelled_optimizer(dice);
  plan.recipe.trainer.value = "trainer";
  plan.recipe.kind.value = RecipeKind::supervised;
  plan.recipe.reference.value = Reference::none;
  plan.recipe.reference_rows.value = plan.batch.completion_length.value = 0;
  plan.recipe.second_term.value = false;
  plan.recipe.divergence.value = Divergence::mixed;
  plan.model.teacher.value.clear();
  plan.model.teacher_dtype.value = WeightsDType::checkpoint;
  plan.model.head.value = HeadKind::language_model;
  plan.model.mean_resizing.value = true;
  plan.model.labels.value = plan.model.choices.value = plan.model.vocabulary.value = 0;
  plan.batch.target_length.value = 0;
  plan.adapter.layers.value.clear();
  plan.adapter.layers_pattern.value.clear();
  if (plan.adapter.kind.value != Adapter::none) plan.adapter.kind.value = Adapter::lora;  // What all of them can say.
  plan.adapter.init.value = AdapterInit::plain;
  plan.adapter.feedforward.value.clear();
  plan.adapter.block.value = 32;
  plan.quantization.dequantized.value = Dequantized::none;
  plan.evaluation.evaluates.value = plan.evaluation.padded.value = false;  // What written keys do not say.
  plan.evaluation.rows.value = plan.evaluation.length.value = 0;
  const bool scaled = plan.precision.autocast.value == Autocast::fp16;  // Whose scaler refuses fp16 gradients.
  if (scaled && plan.precision.weights_dtype.value == WeightsDType::fp16)
    plan.precision.weights_dtype.value = WeightsDType::fp32;
  plan.precision.outputs_to_fp32.value = plan.precision.autocast.value != Autocast::none;
  plan.optimizer.set_grads_to_none.value = true;
  plan.checkpointing.every.value = 1;  // Of torchtitan alone, as what its checkpoints keep.
  plan.checkpointing.keeps.value = CheckpointKeeps::inputs;
  plan.checkpointing.early_stop.value = true;
  plan.optimizer.in_backward.value = false;  // Of torchtune alone, as fake quantization.
  plan.quantization.fake_group.value = 0;
  plan.quantization.checkpoint.value = 0;            // Of Unsloth alone.
  plan.kernels.unsloth.value = UnslothLayers::none;  // Of Unsloth alone, with its rows and its loss.
  plan.batch.joined.value = plan.batch.max_steps.value = 0;
  plan.recipe.token_metrics.value = TokenMetrics::none;
  plan.recipe.cache_kind.value = CacheKind::copies;  // Of older versions alone, as the five below.
  plan.recipe.logit_shift.value = LogitShift::labels;
  plan.recipe.pair_scores.value = PairScores::by_row;
  plan.kernels.sdpa_keys.value = SdpaKeys::grouped;
  plan.kernels.additive_mask.value = plan.kernels.rotary_in_layers.value = false;
  plan.recipe.rollout_iterations.value = 1;
  plan.recipe.generation.value = Generation::elsewhere;
  plan.recipe.vllm_share.value = 0;
  plan.recipe.vllm_sleeps.value = false;
  plan.recipe.sampling.value.clear();
  plan.optimizer.fp32_embedding_state.value = true;
  plan.quantization.linear.value = QuantizedLinear::bitsandbytes;
  plan.batch.lengths.value.clear();
  const bool axolotl = dialect == "axolotl";
  plan.checkpointing.offload.value = Offload::none;
  if (!axolotl) plan.kernels.liger_layer_norm.value = false;
  if (axolotl) plan.runtime.alloc_conf.value = "expandable_segments:True";
  // What comes of more keys than its own, and of the model.
  const bool by_plugin = plan.kernels.experts.value == ExpertsImplementation::scattermoe;
  if (!axolotl || by_plugin) plan.kernels.experts.value = ExpertsImplementation::grouped_mm;
  if (plan.kernels.attention.value == Attention::flash_or_sdpa)
    plan.kernels.attention.value = Attention::flash_attention_2;
  plan.kernels.routing.value = Routing::any;
  plan.kernels.scan_packages.value = plan.kernels.older_gpu.value = false;
  plan.batch.mask_sent.value = true;
  if (!axolotl) plan.quantization.skipped.value.clear();
  plan.adapter.update.value = axolotl ? ParameterUpdate::summed : ParameterUpdate::folded;
  for (Setting<bool>* fact :
       {&plan.kernels.lora_qkv, &plan.kernels.lora_o, &plan.kernels.lora_mlp, &plan.precision.fp32_norms,
        &plan.precision.fp32_while_loading, &plan.precision.backward_in_autocast, &plan.quantization.kbit_upcast,
        &plan.recipe.outputs_kept, &plan.recipe.use_cache, &plan.precision.trained_to_fp32, &plan.checkpointing.wrapped,
        &plan.kernels.fused_norm_rope, &plan.quantization.experts}) {
    fact->value = false;
  }
  if (axolotl) plan.saving.saves.value = true;
  plan.mesh = trainer_mesh(plan);
  return plan;
}

DType of(WeightsDType dtype) {
  return dtype == WeightsDType::bf16 ? DType::bf16 : dtype == WeightsDType::fp16 ? DType::fp16 : DType::fp32;
}

TrainingPlan sft_plan(Dice& dice) {
  TrainingPlan plan = framework_plan(dice, "hf");
  plan.framework = "trl 1.16.0 on transformers 5.23.0";
  plan.recipe.trainer.value = "sft";
  plan.checkpointing.offload.value = dice.flip() ? Offload::streamed : Offload::none;
  plan.recipe.loss.value = Loss::chunked_logprob;
  const bool quantized = plan.quantization.kind.value != Quantization::none;
  if (quantized && plan.precision.weights_dtype.value == WeightsDType::checkpoint)
    plan.precision.weights_dtype.value = WeightsDType::bf16;
  plan.quantization.compute_dtype.value = of(plan.precision.weights_dtype.value);
  plan.adapter.dtype.value = quantized ? AdapterDType::bf16 : AdapterDType::fp32;
  plan.batch.padding_mask.value = plan.batch.micro_batch_size.value > 1;
  if (dice.flip()) plan.adapter.targets.value = {"peft-default"};
  return plan;
}

TrainingPlan dpo_plan(Dice& dice) {
  TrainingPlan plan = sft_plan(dice);
  plan.recipe.trainer.value = "dpo";
  plan.checkpointing.offload.value = Offload::none;
  plan.recipe.kind.value = RecipeKind::dpo;
  const bool precomputed = dice.number(0, 2) == 0;
  plan.recipe.reference.value = precomputed                                ? Reference::precomputed
                                : plan.adapter.kind.value == Adapter::none ? Reference::model
                                                                           : Reference::adapter_off;
  if (precomputed) plan.recipe.reference_rows.value = plan.batch.micro_batch_size.value;
  plan.batch.padding_mask.value = true;
  return plan;
}

TrainingPlan trainer_plan(Dice& dice) {
  TrainingPlan plan = framework_plan(dice, "hf");
  plan.framework = "transformers 5.23.0";
  plan.recipe.loss.value = dice.flip() ? Loss::full_logits : Loss::liger_fused_linear;
  plan.recipe.use_cache.value = dice.flip();
  plan.adapter.kind.value = Adapter::none;
  plan.quantization.kind.value = Quantization::none;
  plan.quantization.double_quantization.value = false;
  plan.quantization.compute_dtype.value = of(plan.precision.weights_dtype.value);
  plan.adapter.dtype.value = AdapterDType::fp32;
  plan.adapter.rank.value = 16;
  plan.adapter.dropout.value = 0.05;
  plan.adapter.targets.value = {"peft-default"};
  return plan;
}

TrainingPlan axolotl_plan(Dice& dice) {
  TrainingPlan plan = framework_plan(dice, "axolotl");
  plan.framework = "axolotl 0.18.0 on transformers 5.14.1";
  plan.recipe.loss.value = dice.one_of({Loss::full_logits, Loss::liger_0_8_0_fused_linear, Loss::cut_cross_entropy});
  plan.recipe.label_smoothing.value = false;
  const bool half = plan.adapter.kind.value == Adapter::lora && dice.flip();
  plan.precision.weights_dtype.value = dice.one_of({WeightsDType::fp32, WeightsDType::bf16, WeightsDType::fp16});
  // Without a dtype said, 8-bit weights are loaded as fp16.
  const bool eight = plan.quantization.kind.value == Quantization::int8;
  if (eight && plan.precision.weights_dtype.value == WeightsDType::fp32) {
    plan.precision.weights_dtype.value = WeightsDType::fp16;
  }
  plan.precision.autocast.value = plan.precision.weights_dtype.value == WeightsDType::bf16           ? Autocast::bf16
                                  : plan.precision.weights_dtype.value == WeightsDType::fp16 && half ? Autocast::fp16
                                                                                                     : Autocast::none;
  plan.precision.outputs_to_fp32.value = plan.precision.autocast.value != Autocast::none;
  plan.adapter.dtype.value = dice.one_of({AdapterDType::fp32, AdapterDType::as_base});
  if (plan.precision.autocast.value == Autocast::fp16) {  // Whose scaler refuses copies and adapters in fp16.
    plan.adapter.modules_to_save.value.clear();
    plan.adapter.dtype.value = AdapterDType::fp32;
  }
  if (plan.kernels.attention.value == Attention::eager) plan.batch.padding_mask.value = true;
  plan.batch.mask_sent.value = plan.batch.padding_mask.value;  // Rows without a mask are packed.
  const bool raised = plan.precision.weights_dtype.value != WeightsDType::fp32;
  const bool skipped = plan.quantization.kind.value != Quantization::none && !eight && dice.flip();
  if (plan.adapter.kind.value == Adapter::lora) {
    plan.precision.fp32_while_loading.value = raised && !skipped;
    return plan;
  }
  plan.adapter.rank.value = 8;
  plan.adapter.dropout.value = 0;
  plan.adapter.targets.value.clear();
  plan.adapter.dtype.value = AdapterDType::fp32;
  const bool flash = plan.kernels.attention.value == Attention::flash_attention_2;
  const bool lowered = flash || plan.recipe.loss.value == Loss::cut_cross_entropy;
  plan.precision.fp32_norms.value = !lowered && raised;
  plan.precision.fp32_while_loading.value = lowered && raised;
  // Its dots mean themselves: of other expressions it has no word.
  if (dice.flip()) plan.recipe.trained.value = {"^lm_head\\.weight$", "layers\\.[0-9]+"};
  return plan;
}

TrainingPlan with_loader(TrainingPlan plan, Dice& dice) {
  plan.loader = trainer_loader(dice, plan);
  return plan;
}

TrainingPlan read_back(const TrainingPlan& plan, const std::string& dialect) {
  const std::string text = write_plan(plan, dialect);
  const auto document = parse_document(text, "written.yaml", Syntax::yaml);
  if (!document.ok()) {
    ADD_FAILURE() << to_text(document.errors().front()) << text;
    return {};
  }
  auto back = ingest(*document);
  if (!back) {
    ADD_FAILURE() << to_text(back.errors().front()) << text;
    return {};
  }
  back->unmodelled.clear();
  return *std::move(back);
}

// What has no effect in a plan no key says; there the default of what is read counts.
TrainingPlan as_said(TrainingPlan plan, const TrainingPlan& back) {
  const TrainingPlan whole = plan;
  for (const FactRow& row : facts()) {
    if (row.matters(whole)) continue;
    const auto value = parse_document(row.write(back), "value", Syntax::yaml);
    EXPECT_TRUE(value && row.read(value->root, {}, plan)) << row.name;
  }
  return plan;
}

void expect_same(const TrainingPlan& all, const std::string& dialect) {
  const TrainingPlan back = read_back(all, dialect);
  const TrainingPlan plan = dialect == "oomplan" ? all : as_said(all, back);
  EXPECT_EQ(back.dialect, plan.dialect);
  EXPECT_EQ(back.framework, plan.framework);
  // Where they differ, the plain form says in what.
  ASSERT_EQ(write_plan(back, "oomplan"), write_plan(plan, "oomplan")) << write_plan(plan, dialect);
  ASSERT_EQ(back, plan);
}

constexpr int rounds = rounds_of(2000);

TEST(WrittenPlans, OomplanSaysAll) {
  Dice dice(1);
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) expect_same(any_plan(dice), "oomplan");
}

TEST(WrittenPlans, HfSaysAnSftRun) {
  Dice dice(2);
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) expect_same(with_loader(sft_plan(dice), dice), "hf");
}

TEST(WrittenPlans, HfSaysAPlainRun) {
  Dice dice(3);
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i)
    expect_same(with_loader(trainer_plan(dice), dice), "hf");
}

TEST(WrittenPlans, HfSaysADpoRun) {
  Dice dice(6);
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) expect_same(with_loader(dpo_plan(dice), dice), "hf");
}

TEST(WrittenPlans, AxolotlSaysItsRuns) {
  Dice dice(4);
  for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i)
    expect_same(with_loader(axolotl_plan(dice), dice), "axolotl");
}

// Of a plan that a dialect cannot say in full it says the same each time.
TEST(WrittenPlans, WhatIsReadBackIsSaidAgain) {
  Dice dice(5);
  for (int i = 0; i < rounds / 10 && !testing::Test::HasFailure(); ++i) {
    const TrainingPlan plan = sft_plan(dice);
    for (const std::string dialect : {"axolotl", "hf", "oomplan"}) {
      // Axolotl has no such default, and loads in fp16 what it trains under fp16 autocast, which its scaler refuses.
      const AdapterFacts& adapter = plan.adapter;
      const bool raised = adapter.kind.value != Adapter::none && adapter.modules_to_save.value.empty() &&
                          adapter.dtype.value == AdapterDType::fp32;
      const bool half = plan.precision.autocast.value == Autocast::fp16 && !raised;
      if (dialect == "axolotl" && (half || plan.adapter.targets.value.front() == "peft-default")) continue;
      const TrainingPlan once = read_back(plan, dialect);
      ASSERT_EQ(read_back(once, dialect), once) << write_plan(plan, dialect);
    }
  }
}

}  // namespace
}  // namespace oomplan
