// Plans and architectures small enough to count by hand, through the public interface only.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/estimate.hpp"

namespace oomplan::example {

/// A model's config: each key with its value as JSON.
using Keys = std::map<std::string, std::string>;

inline Keys with(Keys keys, const Keys& changes) {
  for (const auto& [key, value] : changes) keys[key] = value;
  return keys;
}

/// Width 256, 4 heads of 64 (2 of them for keys and values), inner width 512, 2 layers, 1000 words.
inline Keys llama(const Keys& changes = {}) {
  return with({{"model_type", "\"llama\""},
               {"hidden_size", "256"},
               {"intermediate_size", "512"},
               {"num_hidden_layers", "2"},
               {"num_attention_heads", "4"},
               {"num_key_value_heads", "2"},
               {"vocab_size", "1000"}},
              changes);
}

inline Keys qwen3(const Keys& changes = {}) {
  return with(llama({{"model_type", "\"qwen3\""}, {"head_dim", "64"}}), changes);
}

/// The same with 8 experts of width 32, 2 for each token.
inline Keys qwen3_moe(const Keys& changes = {}) {
  return with(qwen3({{"model_type", "\"qwen3_moe\""},
                     {"num_experts", "8"},
                     {"num_experts_per_tok", "2"},
                     {"moe_intermediate_size", "32"}}),
              changes);
}

inline Keys mistral(const Keys& changes = {}) {
  return with(llama({{"model_type", "\"mistral\""}, {"sliding_window", "null"}}), changes);
}

inline Keys gpt2(const Keys& changes = {}) {
  return with({{"model_type", "\"gpt2\""},
               {"n_embd", "256"},
               {"n_layer", "2"},
               {"n_head", "4"},
               {"n_positions", "4096"},
               {"vocab_size", "1000"}},
              changes);
}

inline Keys bert(const Keys& changes = {}) {
  return with({{"model_type", "\"bert\""},
               {"hidden_size", "256"},
               {"intermediate_size", "1024"},
               {"num_hidden_layers", "2"},
               {"num_attention_heads", "4"},
               {"max_position_embeddings", "4096"},
               {"vocab_size", "1000"}},
              changes);
}

inline Architecture architecture(const Keys& keys) {
  std::string text = "{";
  for (const auto& [key, value] : keys) text += (text.size() > 1 ? ", \"" : "\"") + key + "\": " + value;
  const auto document = parse_document(text + "}", "config.json", Syntax::json);
  const auto out = document ? architecture_of(*document) : Result<Architecture>(document.errors());
  if (out) return *out;
  ADD_FAILURE() << to_text(out.errors().front()) << text;
  return {};
}

/// Full fine-tuning in bf16 with plain SGD, which keeps no state.
inline TrainingPlan plan(std::int64_t batch, std::int64_t length) {
  TrainingPlan p;
  p.batch.micro_batch_size.value = batch;
  p.batch.sequence_length.value = length;
  p.batch.gradient_accumulation_steps.value = 1;
  p.precision.weights_dtype.value = WeightsDType::bf16;
  p.kernels.attention.value = Attention::sdpa;
  p.kernels.experts.value = ExpertsImplementation::grouped_mm;
  p.adapter.update.value = ParameterUpdate::folded;
  p.optimizer.name.value = "sgd";
  p.recipe.outputs_kept.value = true;
  p.optimizer.set_grads_to_none.value = true;
  p.adapter.rank.value = 16;
  p.adapter.targets.value = {"q_proj", "v_proj"};
  p.quantization.double_quantization.value = true;
  p.quantization.compute_dtype.value = DType::bf16;
  p.checkpointing.every.value = 1;
  p.checkpointing.early_stop.value = true;
  return p;
}

/// torch's defaults, gradients reduced in each micro-batch.
inline MeshFacts mesh(Sharding sharding, std::int64_t world) {
  MeshFacts m;
  m.sharding.value = sharding;
  m.world_size.value = world;
  m.sync_each.value = true;
  m.ddp_bucket_mib.value = 25;
  m.fsdp_replicas.value = m.fsdp_reshard_ranks.value = m.tensor_parallel.value = 1;
  m.fsdp_reshard_unreduced.value = true;
  return m;
}

inline Footprint played(const TrainingPlan& plan, const Architecture& model) {
  const auto footprint = estimate(plan, model);
  if (footprint) return *footprint;
  ADD_FAILURE() << to_text(footprint.errors().front());
  return {};
}

/// Each allocation and free, of which a footprint has none unless it is asked for them.
inline std::vector<Event> events_of(const TrainingPlan& plan, const Architecture& model) {
  const auto footprint = estimate(plan, model, Detail::events);
  if (footprint && !footprint->events.empty()) return footprint->events;
  ADD_FAILURE() << (footprint ? "no events" : to_text(footprint.errors().front()));
  return {};
}

inline PhasePeak peak_of(const Footprint& footprint, Phase phase, int step) {
  for (const PhasePeak& p : footprint.peaks) {
    if (p.phase == phase && p.step == step) return p;
  }
  ADD_FAILURE() << "no " << name_of(phase) << " in step " << step;
  return {};
}

}  // namespace oomplan::example
