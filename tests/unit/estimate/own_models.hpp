// Models that are played otherwise than Llama, and the trainers of frameworks that have their own.
#pragma once

#include "plans.hpp"

namespace oomplan::estimator {

/// Whose blocks return their attention's weights, and have eager attention alone.
inline example::Keys bloom() {
  return {
      {"model_type", "\"bloom\""}, {"hidden_size", "256"}, {"n_layer", "2"}, {"n_head", "4"}, {"vocab_size", "1000"}};
}

/// Whose first block makes what all blocks are given.
inline example::Keys t5() {
  return {{"model_type", "\"t5\""}, {"d_model", "256"},         {"d_ff", "512"},
          {"num_heads", "4"},       {"num_hidden_layers", "2"}, {"vocab_size", "1000"}};
}

inline example::Keys bart() {
  return {{"model_type", "\"bart\""},
          {"d_model", "256"},
          {"num_hidden_layers", "2"},
          {"decoder_layers", "7"},
          {"encoder_ffn_dim", "512"},
          {"decoder_ffn_dim", "512"},
          {"encoder_attention_heads", "4"},
          {"decoder_attention_heads", "4"},
          {"vocab_size", "1000"}};
}

/// Whose layers share their weights.
inline example::Keys albert() {
  return {{"model_type", "\"albert\""}, {"hidden_size", "256"},       {"embedding_size", "64"},
          {"intermediate_size", "512"}, {"num_attention_heads", "4"}, {"num_hidden_layers", "2"},
          {"vocab_size", "1000"}};
}

/// Whose norms, attention and losses are torchtune's.
inline example::Keys torchtune() {
  return {{"model_type", "\"torchtune_llama\""},
          {"hidden_size", "256"},
          {"intermediate_size", "512"},
          {"num_hidden_layers", "2"},
          {"num_attention_heads", "4"},
          {"num_key_value_heads", "2"},
          {"head_dim", "64"},
          {"vocab_size", "1000"},
          {"max_position_embeddings", "128"}};
}

/// Whose norms are torch's fused kernel.
inline example::Keys torchtitan() {
  return {{"model_type", "\"torchtitan_llama3\""},
          {"hidden_size", "256"},
          {"intermediate_size", "512"},
          {"num_hidden_layers", "4"},
          {"num_attention_heads", "4"},
          {"num_key_value_heads", "2"},
          {"head_dim", "64"},
          {"vocab_size", "1000"}};
}

/// Its trainer, which checkpoints every second layer and keeps products of it.
inline void by_torchtitan(TrainingPlan& p) {
  p.framework = "torchtitan 0.2.2";
  p.kernels.attention.value = Attention::sdpa;
  p.recipe.loss.value = Loss::summed_logits;
  p.checkpointing.on.value = p.checkpointing.wrapped.value = true;
  p.checkpointing.early_stop.value = false;
  p.checkpointing.every.value = 2;
  p.checkpointing.keeps.value = CheckpointKeeps::products;
}

/// Whose loop makes the loss itself, of what the model returned.
inline example::Keys litgpt() {
  return {{"model_type", "\"litgpt\""}, {"hidden_size", "256"},       {"intermediate_size", "512"},
          {"num_hidden_layers", "2"},   {"num_attention_heads", "4"}, {"num_key_value_heads", "2"},
          {"head_dim", "64"},           {"vocab_size", "1000"},       {"max_position_embeddings", "128"}};
}

inline void by_litgpt(TrainingPlan& p) {
  p.framework = "litgpt 0.5.13";
  p.optimizer.name.value = "adamw_foreach";
  p.kernels.attention.value = Attention::sdpa;
  p.recipe.loss.value = Loss::chunked_rows;
}

}  // namespace oomplan::estimator
