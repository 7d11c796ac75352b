// Small models and plans drawn at random, each law over many of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>

#include "plans.hpp"

namespace oomplan::drawn {

using example::Keys;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<std::int64_t>(values.size())));
  }
  std::string number(std::initializer_list<std::int64_t> values) { return std::to_string(pick(values)); }

 private:
  std::mt19937_64 engine_;
};

/// A small model of any family, its sizes odd as often as round.
struct Model {
  Keys keys{};
  std::string layers_key = "num_hidden_layers";
  bool rotary = true;

  std::int64_t number(const std::string& key) const { return std::stoll(keys.at(key)); }
  std::int64_t layers() const { return number(layers_key); }
  Architecture architecture() const { return example::architecture(keys); }
};

inline Model rotary_model(Dice& dice) {
  const std::int64_t heads = dice.pick({1, 2, 4, 6});
  const std::int64_t groups = heads % 2 == 0 ? dice.pick({1, 2}) : 1;
  const std::int64_t width = dice.pick({8, 20, 32, 64});
  const std::string type = dice.pick<std::string>({"llama", "mistral", "qwen2", "qwen3"});
  Model m{.keys = {{"model_type", '"' + type + '"'},
                   {"hidden_size", std::to_string(heads * width)},
                   {"intermediate_size", dice.number({60, 128, 333})},
                   {"num_attention_heads", std::to_string(heads)},
                   {"num_key_value_heads", std::to_string(heads / groups)},
                   {"tie_word_embeddings", dice.one_in(2) ? "true" : "false"}}};
  if (type == "mistral") m.keys["sliding_window"] = dice.pick<std::string>({"null", "40", "4096"});
  if (type == "qwen3") m.keys["head_dim"] = std::to_string(width);
  if (type == "llama" && dice.one_in(4)) m.keys["attention_bias"] = m.keys["mlp_bias"] = "true";
  if (dice.one_in(4)) m.keys["attention_dropout"] = "0.1";
  return m;
}

inline Model gpt2_model(Dice& dice) {
  const std::int64_t heads = dice.pick({1, 2, 4});
  return {.keys = {{"model_type", "\"gpt2\""},
                   {"n_embd", std::to_string(heads * dice.pick({16, 32}))},
                   {"n_head", std::to_string(heads)},
                   {"n_positions", "4096"},
                   {"resid_pdrop", dice.one_in(2) ? "0.1" : "0.0"},
                   {"attn_pdrop", dice.one_in(2) ? "0.1" : "0.0"}},
          .layers_key = "n_layer",
          .rotary = false};
}

inline Model bert_model(Dice& dice) {
  const std::int64_t heads = dice.pick({1, 2, 4});
  return {.keys = {{"model_type", dice.one_in(2) ? "\"bert\"" : "\"roberta\""},
                   {"hidden_size", std::to_string(heads * dice.pick({16, 32}))},
                   {"intermediate_size", dice.number({60, 128, 333})},
                   {"num_attention_heads", std::to_string(heads)},
                   {"max_position_embeddings", "4096"},
                   {"hidden_dropout_prob", dice.one_in(2) ? "0.1" : "0.0"}},
          .rotary = false};
}

inline Model random_model(Dice& dice) {
  const std::int64_t family = dice.below(6);
  Model m = family < 4 ? rotary_model(dice) : family == 4 ? gpt2_model(dice) : bert_model(dice);
  m.keys["vocab_size"] = dice.number({50, 501, 3000});
  m.keys[m.layers_key] = dice.number({1, 2, 3, 5, 6, 8});
  return m;
}

/// FlashAttention 2 stops at fp32.
inline void take_half_for_flash(TrainingPlan& p) {
  const bool in_fp32 =
      p.precision.weights_dtype.value == WeightsDType::fp32 && p.precision.autocast.value == Autocast::none;
  if (in_fp32 && p.kernels.attention.value == Attention::flash_attention_2) p.kernels.attention.value = Attention::sdpa;
}

inline TrainingPlan random_plan(Dice& dice, const Model& model) {
  const auto length = dice.pick({1, 2, 16, 31, 64, 100});  // not an argument: their order is each compiler's own
  TrainingPlan p = example::plan(dice.pick({1, 1, 2, 3, 8}), length);
  const std::int64_t precision = dice.below(3);
  if (precision > 0) p.precision.weights_dtype.value = WeightsDType::fp32;
  if (precision > 1) p.precision.autocast.value = Autocast::bf16;
  p.batch.gradient_accumulation_steps.value = dice.pick({1, 1, 2, 4});
  p.batch.padding_mask.value = dice.one_in(3);
  p.kernels.attention.value =
      dice.pick({Attention::eager, Attention::sdpa, Attention::sdpa, Attention::flash_attention_2});
  take_half_for_flash(p);
  p.optimizer.name.value = dice.pick<std::string>({"adamw_foreach", "adamw_for_each", "adamw_fused", "adamw_8bit",
                                                   "sgd", "sgd_momentum", "adafactor", "paged_adamw_32bit"});
  p.optimizer.clip_gradients.value = dice.one_in(2);
  p.checkpointing.on.value = dice.one_in(2);
  p.checkpointing.reentrant.value = dice.one_in(3);
  if (!p.checkpointing.reentrant.value && dice.one_in(3)) p.checkpointing.keeps.value = CheckpointKeeps::products;
  p.recipe.outputs_kept.value = dice.one_in(2);
  p.recipe.label_smoothing.value = dice.one_in(6);
  p.optimizer.set_grads_to_none.value = !dice.one_in(4);
  p.precision.outputs_to_fp32.value = dice.one_in(3);
  p.precision.fp32_norms.value = dice.one_in(4);
  p.precision.fp32_while_loading.value = dice.one_in(4);
  if (!model.rotary) return p;
  p.recipe.loss.value = dice.pick({Loss::full_logits, Loss::full_logits, Loss::chunked_logprob,
                                   Loss::liger_fused_linear, Loss::liger_0_8_0_fused_linear});
  p.kernels.liger_rms_norm.value = dice.one_in(4);
  p.kernels.liger_rope.value = dice.one_in(4);
  p.kernels.liger_glu.value = dice.one_in(4);
  if (dice.one_in(2)) return p;
  p.adapter.kind.value = Adapter::lora;
  p.adapter.rank.value = dice.pick({1, 8, 64});
  p.adapter.dropout.value = dice.pick({0.0, 0.05});
  p.adapter.dtype.value = dice.one_in(2) ? AdapterDType::fp32 : AdapterDType::as_base;
  if (dice.one_in(2)) p.adapter.targets.value = {"all-linear"};
  p.kernels.lora_qkv.value = p.kernels.lora_o.value = p.kernels.lora_mlp.value = dice.one_in(3);
  if (!dice.one_in(2)) return p;
  p.quantization.kind.value = Quantization::nf4;
  p.quantization.double_quantization.value = dice.one_in(2);
  p.quantization.linear.value = dice.one_in(2) ? QuantizedLinear::bitsandbytes : QuantizedLinear::torch_linear;
  p.quantization.kbit_upcast.value = dice.one_in(2);
  return p;
}

inline std::string described(const Model& model, const TrainingPlan& p) {
  std::string out;
  for (const auto& [key, value] : model.keys) out += key + "=" + value + " ";
  const auto flag = [&](const char* name, bool set) { out += set ? std::string(name) + " " : ""; };
  out += "batch " + std::to_string(p.batch.micro_batch_size.value) + " length " +
         std::to_string(p.batch.sequence_length.value);
  out +=
      " accumulation " + std::to_string(p.batch.gradient_accumulation_steps.value) + " " + p.optimizer.name.value + " ";
  flag("fp32", p.precision.weights_dtype.value == WeightsDType::fp32);
  flag("autocast", p.precision.autocast.value != Autocast::none);
  flag("padded", p.batch.padding_mask.value);
  out += std::string(attention_names[static_cast<std::size_t>(p.kernels.attention.value)]) + " ";
  flag("checkpointed", p.checkpointing.on.value);
  flag("reentrant", p.checkpointing.reentrant.value);
  flag("products kept", p.checkpointing.keeps.value == CheckpointKeeps::products);
  flag("outputs kept", p.recipe.outputs_kept.value);
  flag("gradients kept", !p.optimizer.set_grads_to_none.value);
  flag("outputs to fp32", p.precision.outputs_to_fp32.value);
  flag("fp32 norms", p.precision.fp32_norms.value);
  flag("fp32 while loading", p.precision.fp32_while_loading.value);
  out += std::string(loss_names[static_cast<std::size_t>(p.recipe.loss.value)]) + " ";
  flag("liger norms", p.kernels.liger_rms_norm.value);
  flag("liger rope", p.kernels.liger_rope.value);
  flag("liger glu", p.kernels.liger_glu.value);
  flag("lora kernels", p.kernels.lora_qkv.value);
  flag("lora", p.adapter.kind.value == Adapter::lora);
  flag("all-linear", p.adapter.targets.value.size() == 1);
  flag("nf4", p.quantization.kind.value != Quantization::none);
  flag("double", p.quantization.double_quantization.value);
  flag("upcast", p.quantization.kbit_upcast.value);
  return out + "rank " + std::to_string(p.adapter.rank.value) + " dropout " + std::to_string(p.adapter.dropout.value);
}

/// Runs `law` over many random models and plans.
inline void over_many(std::uint64_t seed, int count,
                      const std::function<void(Dice&, const Model&, const TrainingPlan&)>& law) {
  Dice dice(seed);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const Model model = random_model(dice);
    const TrainingPlan plan = random_plan(dice, model);
    SCOPED_TRACE(described(model, plan));
    law(dice, model, plan);
  }
}

}  // namespace oomplan::drawn
