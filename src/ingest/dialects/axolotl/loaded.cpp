#include "loaded.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "../../dialect.hpp"
#include "../../loaders.hpp"
#include "../../quantized_checkpoint.hpp"
#include "../../stack.hpp"
#include "../../versions.hpp"
#include "oomplan/core/pattern.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

const Stack& own_stack() { return stack_of("axolotl-0.18"); }

bool lists(std::string_view list, const Architecture& model) {
  return own_stack().lists("axolotl", list, model.model_type);
}

void switch_off(std::initializer_list<Setting<bool>*> kernels, std::string_view where) {
  for (Setting<bool>* kernel : kernels) *kernel = {false, own_stack().origin("axolotl", where)};
}

// axolotl 0.18.0, monkeypatch/lora_kernels.py, get_attention_cls_from_config: of a mistral3 it patches
// MistralAttention, which a Ministral 3 has none of.
void check_patched_attention(TrainingPlan& plan, const Architecture& model) {
  KernelFacts& kernels = plan.kernels;
  const bool ministral = model.model_type == "mistral3" && has_op(model, "rotary_attention", "scaled_by_position");
  if (ministral) switch_off({&kernels.lora_qkv, &kernels.lora_o}, "get_attention_cls_from_config");
  if (lists("lora_attention_left", model)) switch_off({&kernels.lora_qkv, &kernels.lora_o}, "patch_self_attn_lora");
  if (lists("lora_kernels_off", model)) {
    switch_off({&kernels.lora_qkv, &kernels.lora_o, &kernels.lora_mlp}, "normalize_config, by model_support");
  }
}

// axolotl 0.18.0, loaders/patch_manager.py, _apply_model_specific_patches: of other models it only warns.
void check_fused_attention(TrainingPlan& plan, const Architecture& model) {
  Setting<bool>& fused = plan.kernels.fused_norm_rope;
  if (!fused.value || lists("fused_attention", model)) return;
  if (lists("fused_attention_unplayed", model)) {
    plan.unmodelled.push_back({"fused RMSNorm+RoPE kernel", "fused_attn_kernel", fused.origin.where});
    return;
  }
  fused.value = false;
  derive(fused.origin, "which does nothing for a model of type " + model.model_type);
}

bool asks_for(const TrainingPlan& plan, std::string_view feature) {
  return std::ranges::count(plan.unmodelled, feature, &Unmodelled::feature) > 0;
}

void settle(TrainingPlan& plan, std::string_view feature) {
  std::erase_if(plan.unmodelled, [&](const Unmodelled& gap) { return gap.feature == feature; });
}

// axolotl 0.18.0, loaders/patch_manager.py, _apply_gemma_hybrid_attention: of any model whose layers have types.
void check_hybrid_attention(TrainingPlan& plan, const Architecture& model) {
  if (!asks_for(plan, "Gemma-4 hybrid attention") || !lists("hybrid_attention", model)) return;
  if (plan.kernels.attention.value != Attention::flash_attention_2) return;
  settle(plan, "Gemma-4 hybrid attention");
  plan.kernels.attention.value = Attention::flash_or_sdpa;
  derive(plan.kernels.attention.origin, "and gemma4_hybrid_attn_impl");
}

// What transformers takes from the Hub for these families was read, of kernels-community's own sources.
void check_hub_kernels(TrainingPlan& plan, const Architecture& model) {
  const Setting<ExpertsImplementation>& experts = plan.kernels.experts;
  const bool scatters = experts.value == ExpertsImplementation::scattermoe;
  const bool whole = plan.mesh.sharding.value == Sharding::none;
  const bool in_8_bits = plan.quantization.experts.value && plan.quantization.kind.value == Quantization::int8;
  const bool played = lists("scattermoe", model) && whole && !in_8_bits;
  if (scatters && !played) plan.unmodelled.push_back({"MoE kernels", "use_scattermoe", experts.origin.where});
  if ((scatters && played) || (whole && lists("hub_kernels_none", model))) settle(plan, "Hub kernels");
}

// One that is asked for and joins modules without LoRA is off, for a reason of its own (dialects/axolotl/adapter.cpp).
bool asked(const Setting<bool>& kernel) { return kernel.value || !kernel.origin.derivation.empty(); }

bool asks_for_attention_kernels(const TrainingPlan& plan) {
  const bool adapts = plan.adapter.kind.value == Adapter::lora;
  return adapts && (asked(plan.kernels.lora_qkv) || asked(plan.kernels.lora_o));
}

// xIELU as transformers writes it in Python raises the stream to fp32 under autocast, at which kernels/lora.py's
// addmm_ stops. With the package xielu, whose kernel keeps the type, the run goes on, and keeps less.
void check_xielu(TrainingPlan& plan, const Architecture& model) {
  if (!has_op(model, "xielu_mlp") || plan.precision.autocast.value == Autocast::none) return;
  if (!asks_for_attention_kernels(plan)) return;
  plan.unmodelled.push_back({"the package xielu, without which Axolotl's LoRA kernels stop at this model,",
                             "lora_qkv_kernel", plan.model.name.origin.where});
}

Diagnostic refused(std::string message, const Location& where, std::string hint) {
  return {Severity::error, "ingest/refused", std::move(message), where, std::move(hint), {}};
}

bool is_before_0_18(const TrainingPlan& plan) {
  const std::string version = framework_version(plan, "axolotl");
  return !version.empty() && is_older(version, "0.18");
}

bool has_liger(const TrainingPlan& plan) {
  const KernelFacts& kernels = plan.kernels;
  return kernels.liger_rms_norm.value || kernels.liger_rope.value || kernels.liger_glu.value ||
         plan.recipe.loss.value == Loss::liger_0_8_0_fused_linear;
}

// What an older version does by the model's type, where no run was measured.
void leave_older_patches(TrainingPlan& plan, const Architecture& model) {
  if (!is_before_0_18(plan)) return;
  const std::string name = "axolotl " + framework_version(plan, "axolotl") + "'s ";
  const auto add = [&](std::string_view what) {
    plan.unmodelled.push_back({name + std::string(what), model.model_type, plan.model.name.origin.where});
  };
  if (lists("patched_anew", model)) add("code for this family, which 0.18 changed,");
  if (has_experts(model)) add("training of mixtures of experts");
  if (std::ranges::any_of(model.body, &Segment::tower)) add("training of models that see images or hear sounds");
  if (has_liger(plan) && !lists("liger_unchanged", model)) add("Liger kernels of this family");
}

// axolotl 0.18.0, monkeypatch/lora_kernels.py, patch_self_attn_lora. Older versions leave attention alone where
// adapters have dropout, and add to any product; their kernels are not played.
std::optional<Diagnostic> refused_by_lora_kernels(const TrainingPlan& plan, const Architecture& model) {
  if (is_before_0_18(plan)) return std::nullopt;
  if (!asks_for_attention_kernels(plan) || lists("lora_attention_rewritten", model)) return std::nullopt;
  const Setting<bool>& kernel = plan.kernels.lora_qkv;
  const bool said = kernel.origin.is_said();
  return refused("lora_qkv_kernel, lora_o_kernel: axolotl 0.18.0 stops before it trains a model of type " +
                     model.model_type + ", whose attention it cannot rewrite for these kernels" +
                     (said ? "" : ", which are on where nothing is said of LoRA's kernels"),
                 said ? kernel.origin.where : plan.model.name.origin.where,
                 "lora_qkv_kernel: false and lora_o_kernel: false");
}

// kernels/lora.py, matmul_lora: what nn.LayerNorm makes is fp32 under autocast, and so are LoRA's matrices then, which
// addmm_ does not add to a product in bf16. As run, of Starcoder 2, PhiMoE and Jais 2.
std::optional<Diagnostic> refused_behind_layer_norm(const TrainingPlan& plan, const Architecture& model) {
  const KernelFacts& kernels = plan.kernels;
  const bool fused = kernels.lora_qkv.value || kernels.lora_mlp.value;
  const auto has_layer_norm = [](const Segment& segment) {
    return !segment.tower && any_op(segment, [](const OpSpec& spec) { return spec.op == "layer_norm"; });
  };
  if (!fused || plan.precision.autocast.value == Autocast::none || is_before_0_18(plan)) return std::nullopt;
  if (std::ranges::none_of(model.body, has_layer_norm)) return std::nullopt;
  const bool said = kernels.lora_qkv.origin.is_said();
  return refused(
      "lora_qkv_kernel: axolotl 0.18.0 stops at its LoRA kernels behind a LayerNorm, which a model of type " +
          model.model_type + " has, under mixed precision (RuntimeError)" +
          (said ? "" : "; they are on where nothing is said of them"),
      said ? kernels.lora_qkv.origin.where : plan.model.name.origin.where,
      "lora_mlp_kernel: false, lora_qkv_kernel: false and lora_o_kernel: false");
}

// It loads the whole model whatever it is trained on, freezes nothing of it by itself, and adapts every linear layer,
// the tower's too (axolotl 0.18.0: loaders/model.py, loaders/adapter.py). Measured for these, with images for fewer,
// and for Gemma 4 with checkpoints alone; with images and 8-bit weights for two.
bool is_measured_whole(const TrainingPlan& plan, const Architecture& model) {
  constexpr auto with_images = std::to_array<std::string_view>(
      {"gemma3", "gemma4", "glm46v", "llava", "mistral3", "qwen2_vl", "qwen2_5_vl", "qwen3_5", "qwen3_5_moe"});
  constexpr auto text_alone = std::to_array<std::string_view>(
      {"gemma3", "gemma4", "internvl", "llava", "mistral3", "qwen2_vl", "qwen2_5_vl", "qwen3_vl"});
  constexpr std::array<std::string_view, 2> in_eight_bits{"mistral3", "qwen3_5"};
  const auto is_of = [&](const auto& names) { return std::ranges::count(names, model.name) > 0; };  // Of such a tower.
  const bool text = plan.images.count.value == 0;
  const bool eight = !text && plan.quantization.kind.value == Quantization::int8 && !is_of(in_eight_bits);
  const bool checkpoints = plan.checkpointing.on.value || model.model_type != "gemma4";
  const bool measured = text ? is_of(text_alone) : is_of(with_images);
  return model.task == Task::causal_lm && measured && checkpoints && !eight;
}

// find_all_linear_names gives peft the last parts of names, and "proj" is the name of the convolution that cuts these
// towers' patches as well, which then carries LoRA that is not played.
void leave_adapted_patches(TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 3> named_proj{"glm46v", "qwen3_5", "qwen3_5_moe"};
  constexpr std::string_view convolution = "model.visual.patch_embed.proj";
  const Setting<std::vector<std::string>>& targets = plan.adapter.targets;
  if (plan.adapter.kind.value == Adapter::none || std::ranges::count(named_proj, model.model_type) == 0) return;
  const auto takes = [&](const std::string& target) {
    Pattern::Budget budget{};
    const std::optional<Pattern> pattern = Pattern::parse(target);
    const bool expression = targets.value.size() == 1 && pattern.has_value();
    return target == "all-linear" || target == "proj" ||
           (expression && pattern->matches_all(convolution, budget).value_or(true));
  };
  if (std::ranges::none_of(targets.value, takes)) return;
  plan.unmodelled.push_back(
      {"LoRA on the convolution that cuts an image into patches,", "lora_targets", targets.origin.where});
}

// utils/config/__init__.py, normalize_config, and loaders/patch_manager.py: of a Gemma 4 whatever the config says.
void check_gemma4(TrainingPlan& plan, const Architecture& model) {
  if (model.model_type != "gemma4" && model.model_type != "gemma4_text") return;
  plan.kernels.fused_norm_rope = {true, own_stack().origin("axolotl", "patch_gemma4_fused_attn")};
  if (model.model_type == "gemma4" && plan.kernels.liger_rope.value) {
    plan.kernels.liger_rope.value = false;
    derive(plan.kernels.liger_rope.origin, "which LigerPlugin skips for Gemma 4");
  }
  if (model.model_type != "gemma4" || !plan.checkpointing.reentrant.value) return;
  plan.checkpointing.reentrant = {false, own_stack().origin("axolotl", "normalize_config, for Gemma 4")};
}

// embeddings_skip_upcast: then the tower's norms stay in fp32 too.
void leave_raised_tower(TrainingPlan& plan, const Architecture& model) {
  const bool quantized = plan.quantization.kind.value != Quantization::none;
  const bool sees = plan.images.count.value > 0 && has_tower(model);
  if (!quantized || !sees || plan.precision.fp32_while_loading.value) return;
  plan.unmodelled.push_back({"a tower whose norms stay in fp32 beside a quantized base", "embeddings_skip_upcast",
                             plan.precision.fp32_while_loading.origin.where});
}

// find_all_linear_names (axolotl 0.18.0: loaders/adapter.py) takes the last part of names, which in the merger of these
// is a number, and peft 0.19.1 finds blocks of that number too.
std::optional<Diagnostic> refused_numbers(const TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 2> numbered{"qwen2_vl", "qwen2_5_vl"};
  const Setting<std::vector<std::string>>& targets = plan.adapter.targets;
  const bool all = targets.value == std::vector<std::string>{"all-linear"};
  if (plan.adapter.kind.value == Adapter::none || !all || std::ranges::count(numbered, model.model_type) == 0)
    return std::nullopt;
  return refused("lora_target_linear: axolotl 0.18.0 makes a target of the name 0 for a model of type " +
                     model.model_type + ", at whose blocks peft then stops (ValueError)",
                 targets.origin.where, "lora_target_modules, with names or a regular expression");
}

// axolotl 0.18.0, processing_strategies.py: what its strategies for these ask of the processor is not there in
// transformers 5.14.1, which calls InternVL's image_token_ids, and a tokenizer's extra_special_tokens_ids.
std::optional<Diagnostic> refused_processor(const TrainingPlan& plan, const Architecture& model) {
  if (!plan.images.token_types.value) return std::nullopt;
  const auto stops = [&](const std::string& what) {
    return refused("processor_type: axolotl 0.18.0 stops at the " + what, plan.images.count.origin.where, {});
  };
  if (model.model_type == "internvl")
    return stops("InternVL processor of transformers 5.14.1, which has no image_ids (ValueError)");
  if (model.model_type == "smolvlm")
    return stops(
        "SmolVLM processor of transformers 5.14.1, whose tokenizer has no additional_special_tokens_ids "
        "(AttributeError)");
  return std::nullopt;
}

// axolotl 0.18.0, loaders/patch_manager.py. Of a Llama whose rows are not packed it puts a function in the attention's
// place that asks for num_heads, which transformers 5.14.1 no longer keeps; GPT-2's config has no num_key_value_heads,
// which its own function asks for; the others look for the name in a table of their attention's classes.
std::optional<Diagnostic> refused_by_xformers(const TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 3> others{"falcon", "gpt2", "gptj"};
  const bool llama = model.model_type == "llama" && !plan.loader.packed.value;
  if (!asks_for(plan, "xformers attention")) return std::nullopt;
  if (!llama && std::ranges::count(others, model.model_type) == 0) return std::nullopt;
  const auto asked = std::ranges::find(plan.unmodelled, "xformers attention", &Unmodelled::feature);
  return refused("attn_implementation: axolotl 0.18.0 stops at xformers on a model of type " + model.model_type +
                     (llama ? " whose rows are not packed" : "") + ", as transformers 5.14.1 has it",
                 asked->where, "attn_implementation: flash_attention_2 or sdpa");
}

// axolotl 0.18.0, monkeypatch/models: the decoder layer's forward function that it puts in place for packed rows asks
// for layer_type, which transformers 5.14.1 calls block_type. As run.
std::optional<Diagnostic> refused_packed_layers(const TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 3> patched{"qwen3_5", "qwen3_5_moe", "qwen3_next"};
  if (!plan.framework.starts_with("axolotl 0.18.") || !plan.loader.packed.value) return std::nullopt;
  if (std::ranges::count(patched, model.model_type) == 0) return std::nullopt;
  return refused("sample_packing: axolotl 0.18.0 stops at packed rows of a model of type " + model.model_type +
                     ", whose layers in transformers 5.14.1 have no layer_type, which it asks for (AttributeError)",
                 plan.loader.packed.origin.where, "sample_packing: false");
}

// axolotl 0.18.0, monkeypatch/lora_kernels.py: they are for peft's models of causal language modelling alone.
std::optional<Diagnostic> refused_reward_kernels(const TrainingPlan& plan) {
  const bool rewards = plan.recipe.kind.value == RecipeKind::reward && plan.adapter.kind.value == Adapter::lora;
  if (!rewards || !(asks_for_attention_kernels(plan) || asked(plan.kernels.lora_mlp))) return std::nullopt;
  const Setting<bool>& kernel = plan.kernels.lora_qkv;
  return refused(
      "reward_model: axolotl 0.18.0 stops at its LoRA kernels, which are on where nothing is said of them, on a model "
      "of rewards (TypeError)",
      kernel.origin.is_said() ? kernel.origin.where : plan.adapter.kind.origin.where,
      "lora_mlp_kernel: false, lora_qkv_kernel: false and lora_o_kernel: false");
}

// axolotl 0.18.0, integrations/liger/plugin.py: only what it patches of Qwen3.5 by itself has gated norms.
void check_gated_norms(TrainingPlan& plan, const Architecture& model) {
  if (model.model_type.starts_with("qwen3_5")) return;
  std::erase_if(plan.unmodelled, [](const Unmodelled& gap) { return gap.key == "liger_rms_norm_gated"; });
}

// axolotl 0.18.0, loaders/model.py, _load_model_from_config: such a model has its config's dtype, whatever the run asks
// for. Where that is the same, it is the model that a checkpoint would have filled.
void check_random_weights(TrainingPlan& plan, const Architecture& model) {
  const std::string_view asked = weights_dtype_names[static_cast<std::size_t>(plan.precision.weights_dtype.value)];
  const bool same = asked == "checkpoint" || asked == name_of(model.checkpoint_dtype);
  if (!same || plan.quantization.kind.value != Quantization::none) return;
  std::erase_if(plan.unmodelled, [](const Unmodelled& gap) { return gap.key == "reinit_weights"; });
}

// Axolotl 0.18.0 asks for flash-linear-attention 0.4.1 (Requires-Dist), and not for causal-conv1d or mamba-ssm.
void take_delta_kernels(TrainingPlan& plan, const Architecture& model) {
  Setting<bool>& packages = plan.kernels.scan_packages;
  if (!has_op(model, "gated_delta_net") || packages.origin.is_said()) return;
  packages = {true, assumed("flash-linear-attention 0.4.1, which Axolotl asks for, is installed, and causal-conv1d is "
                            "not")};
}

// axolotl 0.18.0, monkeypatch/models: patched for packed rows, these layers stop in Python's code; so does Qwen3.5's
// text model, which is not patched, without flash-linear-attention.
void leave_packed_scans(TrainingPlan& plan, const Architecture& model) {
  if (!plan.loader.packed.value || !lists("packed_scans_patched", model)) return;
  if (model.model_type == "qwen3_5_text" && plan.kernels.scan_packages.value) return;
  plan.unmodelled.push_back(
      {"packed rows of this family (axolotl 0.18.0 mostly stops without mamba-ssm, "
       "causal-conv1d or flash-linear-attention)",
       model.model_type, plan.model.name.origin.where});
}

// axolotl 0.18.0, loaders/model.py, _set_quantization_config: llm_int8_skip_modules of its own, without transformers'.
void leave_unquantized_parts(TrainingPlan& plan, const Architecture& model) {
  const Quantization kind = plan.quantization.kind.value;
  const bool skips = model.model_type == "falcon_h1" || (model.model_type == "jamba" && kind == Quantization::int8);
  if (kind == Quantization::none || !skips) return;
  plan.unmodelled.push_back(
      {"what axolotl leaves unquantized of this family", model.model_type, plan.model.name.origin.where});
}

}  // namespace

// axolotl 0.18.0, loaders/model.py: _set_quantization_config hands the checkpoint's config on, but what it prepares of
// a quantized model goes by its own keys.
std::optional<Diagnostic> take_quantized(TrainingPlan& plan, Quantization asked) {
  const bool in_8_bits = plan.quantization.kind.value == Quantization::int8;
  if (asked != Quantization::none && (asked == Quantization::int8) == in_8_bits) return std::nullopt;
  plan.unmodelled.push_back({std::string("a checkpoint quantized in ") + (in_8_bits ? "8" : "4") + " bits without " +
                                 (in_8_bits ? "load_in_8bit" : "adapter: qlora"),
                             "base_model", plan.model.name.origin.where});
  return std::nullopt;
}

std::optional<Diagnostic> adapt_to_model(TrainingPlan& plan, const Architecture& model) {
  take_delta_kernels(plan, model);
  leave_packed_scans(plan, model);
  leave_unquantized_parts(plan, model);
  check_patched_attention(plan, model);
  check_fused_attention(plan, model);
  check_hybrid_attention(plan, model);
  check_hub_kernels(plan, model);
  check_xielu(plan, model);
  check_gemma4(plan, model);
  check_gated_norms(plan, model);
  check_random_weights(plan, model);
  leave_raised_tower(plan, model);
  leave_adapted_patches(plan, model);
  if (!is_measured_whole(plan, model)) leave_own_loading(plan, model);
  leave_older_patches(plan, model);
  if (std::optional<Diagnostic> out = refused_by_lora_kernels(plan, model)) return out;
  if (std::optional<Diagnostic> out = refused_behind_layer_norm(plan, model)) return out;
  if (std::optional<Diagnostic> out = refused_numbers(plan, model)) return out;
  if (std::optional<Diagnostic> out = refused_by_xformers(plan, model)) return out;
  if (std::optional<Diagnostic> out = refused_reward_kernels(plan)) return out;
  if (std::optional<Diagnostic> out = refused_packed_layers(plan, model)) return out;
  return refused_processor(plan, model);
}

}  // namespace oomplan::ingestion::axolotl
