// A run of every kind that is played: trainers, losses, optimizers, adapters, ways of sharding.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "own_models.hpp"
#include "plans.hpp"

namespace oomplan::estimator {

struct Named {
  std::string name{};
  TrainingPlan plan{};
  example::Keys model{};
  bool folds = true;        ///< Else every layer is played.
  example::Keys teacher{};  ///< Of a run that has one.
};

inline TrainingPlan changed(const std::function<void(TrainingPlan&)>& change) {
  TrainingPlan p = example::plan(2, 48);
  p.optimizer.name.value = "adamw_foreach";
  change(p);
  return p;
}

inline void lora(TrainingPlan& p) {
  p.adapter.kind.value = Adapter::lora;
  p.adapter.targets.value = {"all-linear"};
}

inline void liger(TrainingPlan& p) {
  p.kernels.liger_rms_norm.value = p.kernels.liger_rope.value = p.kernels.liger_glu.value = true;
}

inline void sentences(TrainingPlan& p) {
  p.recipe.kind.value = RecipeKind::sentence_embedding;
  p.recipe.loss.value = Loss::multiple_negatives;
  p.recipe.columns.value = 3;
  p.recipe.cached_rows.value = 1;
}

inline std::vector<Named> runs() {
  const auto amp = [](TrainingPlan& p) {
    p.precision.weights_dtype.value = WeightsDType::fp32;
    p.precision.autocast.value = Autocast::bf16;
  };
  return {
      {"bf16", changed([](TrainingPlan&) {}), example::llama()},
      {"autocast", changed(amp), example::llama()},
      {"torchtune's logits in chunks", changed([](TrainingPlan& p) { p.recipe.loss.value = Loss::chunked_output; }),
       torchtune()},
      {"torchtune's linear cross entropy, an optimizer in backward", changed([](TrainingPlan& p) {
         p.recipe.loss.value = Loss::linear_cross_entropy;
         p.optimizer.in_backward.value = true;
       }),
       torchtune(), false},
      {"torchtune's DPO", changed([](TrainingPlan& p) {
         p.recipe.kind.value = RecipeKind::raised_pairs;
         p.recipe.loss.value = Loss::full_logits;
         p.recipe.reference.value = Reference::model;
       }),
       torchtune()},
      {"sentence embeddings", changed(sentences), example::llama()},
      {"sentence embeddings, cached, padded", changed([](TrainingPlan& p) {
         sentences(p);
         p.recipe.loss.value = Loss::cached_multiple_negatives;
         p.recipe.pooling.value = Pooling::last_token;
         p.batch.padding_mask.value = true;
       }),
       example::llama()},
      {"torchtitan's selective checkpoints", changed(by_torchtitan), torchtitan(), false},
      {"litgpt's whole model", changed(by_litgpt), litgpt()},
      {"litgpt's adapters", changed([](TrainingPlan& p) {
         by_litgpt(p);
         p.recipe.loss.value = Loss::chunked_head;
         p.adapter.kind.value = Adapter::lora;
         p.adapter.targets.value = {"query", "value"};
       }),
       litgpt()},
      {"litgpt's 4 bits", changed([](TrainingPlan& p) {
         by_litgpt(p);
         p.recipe.loss.value = Loss::chunked_head;
         p.adapter.kind.value = Adapter::lora;
         p.adapter.targets.value = {"query", "mlp.proj"};
         p.quantization.kind.value = Quantization::nf4;
         p.quantization.linear.value = QuantizedLinear::lightning;
       }),
       litgpt()},
      {"fp32, for-loop", changed([](TrainingPlan& p) {
         p.precision.weights_dtype.value = WeightsDType::fp32;
         p.optimizer.name.value = "adamw_for_each";
       }),
       example::qwen3()},
      {"eager, padded", changed([](TrainingPlan& p) {
         p.kernels.attention.value = Attention::eager;
         p.batch.padding_mask.value = true;
       }),
       example::llama()},
      {"sdpa, padded, fused", changed([](TrainingPlan& p) {
         p.batch.padding_mask.value = true;
         p.optimizer.name.value = "adamw_fused";
       }),
       example::mistral()},
      {"checkpointed, accumulated", changed([&](TrainingPlan& p) {
         amp(p);
         p.checkpointing.on.value = true;
         p.batch.gradient_accumulation_steps.value = 3;
       }),
       example::llama()},
      {"reentrant, gradients kept", changed([](TrainingPlan& p) {
         p.checkpointing.on.value = p.checkpointing.reentrant.value = true;
         p.optimizer.set_grads_to_none.value = false;
         p.optimizer.name.value = "sgd_momentum";
       }),
       example::llama()},
      {"LoRA, dropout", changed([](TrainingPlan& p) {
         lora(p);
         p.adapter.dropout.value = 0.1;
       }),
       example::llama()},
      {"LoRA under autocast", changed([](TrainingPlan& p) {
         lora(p);
         p.precision.autocast.value = Autocast::bf16;
       }),
       example::llama()},
      {"LoRA of two layers under autocast, accumulated", changed([](TrainingPlan& p) {
         lora(p);
         p.adapter.targets.value = {"q_proj", "v_proj"};
         p.precision.autocast.value = Autocast::bf16;
         p.adapter.dropout.value = 0.1;
         p.batch.gradient_accumulation_steps.value = 2;
       }),
       example::qwen3()},
      {"QLoRA under autocast", changed([](TrainingPlan& p) {
         lora(p);
         p.quantization.kind.value = Quantization::nf4;
         p.precision.autocast.value = Autocast::bf16;
         p.adapter.dropout.value = 0.1;
       }),
       example::llama()},
      {"QLoRA with fused functions", changed([](TrainingPlan& p) {
         lora(p);
         p.quantization.kind.value = Quantization::nf4;
         p.precision.autocast.value = Autocast::bf16;
         p.kernels.lora_qkv.value = p.kernels.lora_o.value = p.kernels.lora_mlp.value = true;
       }),
       example::llama()},
      {"QLoRA, checkpointed", changed([](TrainingPlan& p) {
         lora(p);
         p.quantization.kind.value = Quantization::nf4;
         p.checkpointing.on.value = true;
         p.optimizer.name.value = "adamw_8bit";
       }),
       example::llama()},
      {"GPT-2, adafactor, clipped", changed([](TrainingPlan& p) {
         p.optimizer.name.value = "adafactor";
         p.optimizer.clip_gradients.value = true;
       }),
       example::gpt2()},
      {"GPT-2, eager, autocast", changed([&](TrainingPlan& p) {
         amp(p);
         p.kernels.attention.value = Attention::eager;
       }),
       example::gpt2()},
      {"Bloom, checkpointed, padded", changed([](TrainingPlan& p) {
         p.kernels.attention.value = Attention::eager;
         p.checkpointing.on.value = p.batch.padding_mask.value = true;
       }),
       bloom()},
      {"Bloom, LoRA, reentrant", changed([](TrainingPlan& p) {
         lora(p);
         p.kernels.attention.value = Attention::eager;
         p.checkpointing.on.value = p.checkpointing.reentrant.value = true;
       }),
       bloom()},
      {"Liger's layers and loss, checkpointed", changed([&](TrainingPlan& p) {
         amp(p);
         liger(p);
         p.recipe.loss.value = Loss::liger_fused_linear;
         p.checkpointing.on.value = true;
       }),
       example::qwen3()},
      {"Liger's layers and older loss, LoRA", changed([&](TrainingPlan& p) {
         lora(p);
         liger(p);
         p.recipe.loss.value = Loss::liger_0_8_0_fused_linear;
       }),
       example::llama()},
      {"offloaded, checkpointed", changed([](TrainingPlan& p) {
         p.checkpointing.on.value = true;
         p.checkpointing.offload.value = Offload::streamed;
       }),
       example::llama(), false},
      {"offloaded as Axolotl does, LoRA, reentrant", changed([](TrainingPlan& p) {
         lora(p);
         p.checkpointing.on.value = p.checkpointing.reentrant.value = true;
         p.checkpointing.offload.value = Offload::streamed_clones;
       }),
       example::llama(), false},
      {"LLaMA-Factory's DFT and Muon", changed([](TrainingPlan& p) {
         p.recipe.loss.value = Loss::dynamic_fine_tuning;
         p.optimizer.name.value = "llamafactory_muon";
       }),
       example::llama()},
      {"DPO with a reference model, accumulated, evaluated", changed([](TrainingPlan& p) {
         p.recipe.kind.value = RecipeKind::dpo;
         p.recipe.reference.value = Reference::model;
         p.optimizer.name.value = "adamw_fused";
         p.batch.gradient_accumulation_steps.value = 2;
         p.evaluation.evaluates.value = true;
       }),
       example::llama()},
      {"DPO of an adapter, checkpointed, autocast", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::dpo;
         p.recipe.reference.value = Reference::adapter_off;
         p.precision.autocast.value = Autocast::bf16;
         p.checkpointing.on.value = true;
       }),
       example::llama()},
      {"DPO with precomputed scores", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::dpo;
         p.recipe.reference.value = Reference::precomputed;
         p.recipe.reference_rows.value = 5;
       }),
       example::llama()},
      {"ORPO, accumulated, evaluated", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.kind.value = RecipeKind::reference_free;
         p.recipe.second_term.value = true;
         p.batch.gradient_accumulation_steps.value = 2;
         p.evaluation.evaluates.value = true;
       }),
       example::qwen3()},
      {"SimPO of an adapter, checkpointed", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::reference_free;
         p.checkpointing.on.value = true;
       }),
       example::llama()},
      {"a model of rewards, accumulated", changed([](TrainingPlan& p) {
         p.recipe.kind.value = RecipeKind::reward;
         p.batch.gradient_accumulation_steps.value = 2;
       }),
       example::llama()},
      {"KTO of an adapter, checkpointed, evaluated", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::kto;
         p.recipe.reference.value = Reference::adapter_off;
         p.recipe.second_term.value = true;
         p.checkpointing.on.value = true;
         p.evaluation.evaluates.value = true;
       }),
       example::llama()},
      {"a mixture and the loss of its routers", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.loss.value = Loss::chunked_logprob;
         p.recipe.router_loss.value = true;
       }),
       example::qwen3_moe()},
      {"a checkpointed mixture of adapters, and the loss of its routers by padded rows", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.loss.value = Loss::chunked_logprob;
         p.recipe.router_loss.value = true;
         p.checkpointing.on.value = true;
         p.batch.padding_mask.value = true;
         p.evaluation.evaluates.value = true;
       }),
       example::qwen3_moe()},
      {"GRPO with a reference model, accumulated", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.kind.value = RecipeKind::grpo;
         p.recipe.loss.value = Loss::chunked_logprob;
         p.recipe.reference.value = Reference::model;
         p.batch.completion_length.value = 5;
         p.batch.gradient_accumulation_steps.value = 4;
       }),
       example::llama()},
      {"GRPO of an adapter, checkpointed, a rollout for several steps", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::grpo;
         p.recipe.loss.value = Loss::chunked_logprob;
         p.recipe.reference.value = Reference::adapter_off;
         p.recipe.second_term.value = true;
         p.recipe.rollout_batches.value = 3;
         p.checkpointing.on.value = true;
       }),
       example::qwen3()},
      {"GRPO of completions that the policy writes", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.kind.value = RecipeKind::grpo;
         p.recipe.loss.value = Loss::chunked_logprob;
         p.recipe.generation.value = Generation::transformers;
         p.recipe.sampling.value = {"repetition_penalty", "temperature", "top_k", "top_p", "min_p"};
         p.batch.completion_length.value = 5;
         p.batch.padding_mask.value = true;
       }),
       example::llama()},
      {"GRPO of completions that an adapted policy writes, a rollout for two steps", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::grpo;
         p.recipe.loss.value = Loss::chunked_logprob;
         p.recipe.generation.value = Generation::transformers;
         p.recipe.rollout_batches.value = 2;
         p.batch.completion_length.value = 3;
         p.checkpointing.on.value = true;
       }),
       example::qwen3()},
      {"distillation, accumulated, evaluated", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.kind.value = RecipeKind::distillation;
         p.recipe.divergence.value = Divergence::mixed;
         p.model.teacher_dtype.value = WeightsDType::bf16;
         p.batch.gradient_accumulation_steps.value = 4;
         p.evaluation.evaluates.value = true;
       }),
       example::qwen3(), true, example::llama({{"hidden_size", "512"}})},
      {"distillation into an adapter, checkpointed, backwards", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::distillation;
         p.recipe.divergence.value = Divergence::reverse;
         p.batch.completion_length.value = 5;
         p.checkpointing.on.value = true;
       }),
       example::qwen3(), true, example::qwen3({{"hidden_size", "512"}})},
      {"LLaMA-Factory's DPO, raised to fp32, with a reference model, evaluated", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.kind.value = RecipeKind::paired_logits;
         p.recipe.reference.value = Reference::model;
         p.precision.trained_to_fp32.value = true;
         p.evaluation.evaluates.value = true;
         p.saving.saves.value = true;
       }),
       example::llama()},
      {"LLaMA-Factory's ORPO of an adapter", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::paired_logits;
       }),
       example::qwen3()},
      {"LLaMA-Factory's KTO of an adapter, evaluated", changed([](TrainingPlan& p) {
         lora(p);
         p.recipe.kind.value = RecipeKind::unpaired_logits;
         p.recipe.reference.value = Reference::adapter_off;
         p.evaluation.evaluates.value = true;
       }),
       example::llama()},
      {"LLaMA-Factory's model of rewards, not checkpointed", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.kind.value = RecipeKind::reward_values;
         p.evaluation.evaluates.value = true;
       }),
       example::llama(), false},
      {"EAFT, accumulated", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.loss.value = Loss::entropy_aware;
         p.batch.gradient_accumulation_steps.value = 2;
       }),
       example::qwen3()},
      {"Axolotl's EAFT, evaluated", changed([&](TrainingPlan& p) {
         amp(p);
         p.recipe.loss.value = Loss::masked_entropy_aware;
         p.evaluation.evaluates.value = true;
       }),
       example::llama()},
      {"BERT", changed([](TrainingPlan& p) { p.optimizer.name.value = "adamw_8bit"; }), example::bert()},
      {"a classifier of tokens", changed([&](TrainingPlan& p) {
         amp(p);
         p.model.head.value = HeadKind::token_classifier;
       }),
       example::bert()},
      {"BERT, question answering, padded, accumulated", changed([&](TrainingPlan& p) {
         amp(p);
         p.model.head.value = HeadKind::question_answering;
         p.batch.padding_mask.value = true;
         p.batch.gradient_accumulation_steps.value = 2;
       }),
       example::bert()},
      {"BERT, multiple choice, checkpointed, evaluated", changed([&](TrainingPlan& p) {
         p.model.head.value = HeadKind::multiple_choice;
         p.model.choices.value = 3;
         p.checkpointing.on.value = p.evaluation.evaluates.value = true;
       }),
       example::bert()},
      {"Llama, question answering, LoRA on the embedding", changed([&](TrainingPlan& p) {
         lora(p);
         p.adapter.targets.value = {"q_proj", "embed_tokens"};
         p.model.head.value = HeadKind::question_answering;
       }),
       example::llama()},
      {"T5, a classifier of rows", changed([&](TrainingPlan& p) {
         amp(p);
         p.model.head.value = HeadKind::sequence_classifier;
       }),
       t5()},
      {"BART, question answering", changed([](TrainingPlan& p) { p.model.head.value = HeadKind::question_answering; }),
       bart(), false},
      {"ALBERT, a classifier, accumulated", changed([](TrainingPlan& p) {
         p.model.head.value = HeadKind::sequence_classifier;
         p.batch.gradient_accumulation_steps.value = 2;
       }),
       albert()},
      {"T5, reentrant checkpoints", changed([](TrainingPlan& p) {
         p.batch.target_length.value = 20;
         p.checkpointing.on.value = p.checkpointing.reentrant.value = true;
       }),
       t5(), false},
      {"T5, padded, checkpointed", changed([&](TrainingPlan& p) {
         amp(p);
         p.batch.padding_mask.value = p.checkpointing.on.value = true;
       }),
       t5()},
      {"BART, LoRA", changed([](TrainingPlan& p) {
         lora(p);
         p.batch.target_length.value = 20;
       }),
       bart()},
      {"Muon", changed([](TrainingPlan& p) { p.optimizer.name.value = "muon"; }), example::llama()},
      {"DDP, views, accumulated", changed([](TrainingPlan& p) {
         p.mesh = example::mesh(Sharding::ddp, 4);
         p.mesh.ddp_bucket_views.value = true;
         p.batch.gradient_accumulation_steps.value = 3;
       }),
       example::llama()},
      {"DDP, small buckets, LoRA", changed([](TrainingPlan& p) {
         lora(p);
         p.mesh = example::mesh(Sharding::ddp, 2);
         p.mesh.ddp_bucket_mib.value = 1;
         p.mesh.ddp_find_unused.value = true;
       }),
       example::gpt2()},
      {"FSDP2, mixed, checkpointed", changed([](TrainingPlan& p) {
         p.mesh = example::mesh(Sharding::fsdp2, 3);
         p.mesh.fsdp_reduce_dtype.value = MixedDType::fp32;
         p.checkpointing.on.value = true;
       }),
       example::llama()},
      {"FSDP2, not resharded, accumulated", changed([](TrainingPlan& p) {
         p.mesh = example::mesh(Sharding::fsdp2, 4);
         p.mesh.fsdp_reshard.value = Reshard::never;
         p.mesh.fsdp_reduce_dtype.value = MixedDType::fp32;
         p.mesh.sync_each.value = false;
         p.batch.gradient_accumulation_steps.value = 4;
       }),
       example::qwen3()},
      {"FSDP2, replicas, resharded to fewer", changed([](TrainingPlan& p) {
         p.mesh = example::mesh(Sharding::fsdp2, 8);
         p.mesh.fsdp_replicas.value = 2;
         p.mesh.fsdp_reduce_dtype.value = MixedDType::fp32;
         p.mesh.fsdp_reshard.value = Reshard::smaller;
         p.mesh.fsdp_reshard_ranks.value = 2;
       }),
       example::gpt2()},
      {"FSDP2, LoRA", changed([](TrainingPlan& p) {
         lora(p);
         p.mesh = example::mesh(Sharding::fsdp2, 2);
         p.mesh.fsdp_param_dtype.value = MixedDType::bf16;
       }),
       example::llama()},
  };
}

}  // namespace oomplan::estimator
