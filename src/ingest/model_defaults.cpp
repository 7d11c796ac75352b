// What a config leaves to the model.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "stack.hpp"
#include "versions.hpp"

namespace oomplan {
namespace {

Diagnostic no_default(const std::string& model_type) {
  return {Severity::error,
          "ingest/missing-fact",
          "no LoRA targets are given, and oomplan knows no default of peft for " + model_type,
          {},
          "give the framework's key for target modules, or --set plan.lora_targets=[…]",
          {}};
}

Diagnostic no_sdpa(const std::string& model_type, const Origin& origin) {
  return {Severity::error,
          "ingest/conflict",
          "transformers has no sdpa attention for " + model_type + " and refuses to load it so",
          origin.where,
          "ask for eager or flash_attention_2; eager is what it takes where nothing is asked for",
          {}};
}

/// The version behind the word "transformers" in "trl 1.16.0 on transformers 5.23.0", or in a source.
std::string_view transformers_in(std::string_view text) {
  constexpr std::string_view name = "transformers ";
  const auto at = text.find(name);
  if (at == text.npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find_first_not_of("0123456789."));
}

/// Whether the version that is read has no sdpa: that of the source or a later one.
bool is_without_sdpa(const TrainingPlan& plan, const Architecture& model) {
  const std::string_view read = transformers_in(plan.framework);
  return !model.no_sdpa.empty() && (read.empty() || !ingestion::is_older(read, transformers_in(model.no_sdpa)));
}

/// sdpa by default becomes what transformers' loader falls back to.
Diagnostics check_sdpa(const TrainingPlan& plan, const Architecture& model, Setting<Attention>& attention) {
  if (attention.value != Attention::sdpa || !is_without_sdpa(plan, model)) return {};
  if (attention.origin.is_said()) return {no_sdpa(model.model_type, attention.origin)};
  attention = {Attention::eager, {Origin::Kind::framework_default, model.no_sdpa}};
  return {};
}

constexpr std::string_view router_loss = "router_aux_loss_coef";

// trl 1.16.0: SFTTrainer, of which GKDTrainer is one, DPOTrainer and KTOTrainer switch the load-balancing loss of a
// mixture's router on, unless the coefficient is 0; which of the two a config says is not kept, so what it gives up is
// the answer.
void add_router_loss(TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 4> adding{"sft", "dpo", "kto", "gkd"};
  const bool trl = plan.framework.starts_with("trl ") && std::ranges::count(adding, plan.recipe.trainer.value) > 0;
  const bool said = std::ranges::count(plan.unmodelled, router_loss, &Unmodelled::key) > 0;
  if (!trl || said || !model.router_logits) return;
  plan.unmodelled.push_back({"the load-balancing loss of a mixture's router, which TRL adds by default",
                             std::string(router_loss), plan.model.name.origin.where});
}

// trl 1.16.0: SFTTrainer.__init__ refuses a coefficient other than 0 where the model's config has no
// output_router_logits.
std::optional<Diagnostic> refused_by_dense(const TrainingPlan& plan, const Architecture& model) {
  const auto found = std::ranges::find(plan.unmodelled, router_loss, &Unmodelled::key);
  if (found == plan.unmodelled.end() || plan.recipe.trainer.value != "sft") return std::nullopt;
  if (model.router_logits) return std::nullopt;
  return Diagnostic{Severity::error,
                    "ingest/refused",
                    std::string(router_loss) + ": trl 1.16.0 refuses it where the model (" + model.model_type +
                        ") is no mixture of experts",
                    found->where,
                    {},
                    {}};
}

std::int64_t vocabulary(const Architecture& model) {
  const auto found = std::ranges::find(model.config, "vocab_size", [](const auto& row) { return row.first; });
  const auto* size = found == model.config.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return size == nullptr ? 0 : *size;
}

// trl 1.16.0: GKDTrainer.__init__.
std::optional<Diagnostic> refused_teacher(const TrainingPlan& plan, const Architecture& model) {
  if (model.teacher == nullptr || vocabulary(model) == vocabulary(*model.teacher)) return std::nullopt;
  return Diagnostic{Severity::error,
                    "ingest/refused",
                    "the teacher has a vocabulary of " + std::to_string(vocabulary(*model.teacher)) +
                        " and the student one of " + std::to_string(vocabulary(model)) +
                        ": TRL's GKDTrainer compares whole distributions, and refuses them",
                    plan.model.teacher.origin.where,
                    {},
                    {}};
}

/// Whether a layer scans its tokens in Python's code, which is played as the source's version has it.
bool scans(const Architecture& model) {
  constexpr std::array<std::string_view, 4> ops{"mamba_mixer", "mamba2_mixer", "gated_delta_net",
                                                "kimi_delta_attention"};
  const auto is_scan = [&](const OpSpec& spec) { return std::ranges::count(ops, spec.op) > 0; };
  return std::ranges::any_of(model.body, [&](const Segment& segment) {
    return std::ranges::any_of(segment.kinds, [&](const auto& block) { return std::ranges::any_of(block, is_scan); });
  });
}

const std::string& played_transformers() { return ingestion::stack_of("transformers-5.23").layers().front().version; }

// False where the config names no version.
bool runs_before(const TrainingPlan& plan, std::string_view version) {
  const std::string_view read = transformers_in(plan.framework);
  return !read.empty() && ingestion::is_older(read, version);
}

// transformers 5.14 has loops and products of other sizes there, and no fallback function of its own.
void check_scans(TrainingPlan& plan, const Architecture& model) {
  if (!scans(model) || !runs_before(plan, played_transformers())) return;
  plan.unmodelled.push_back({"the code of transformers " + std::string(transformers_in(plan.framework)) +
                                 " for state-space and linear-attention layers, which is another than that of " +
                                 played_transformers() + ",",
                             model.model_type, plan.model.name.origin.where});
}

// T5 had no sdpa attention before 5.23, and nobody compared the others' code.
void check_stacks(TrainingPlan& plan, const Architecture& model) {
  if (model.task != Task::sequence_to_sequence || !runs_before(plan, played_transformers())) return;
  plan.unmodelled.push_back(
      {"the code of transformers " + std::string(transformers_in(plan.framework)) + " for encoder-decoders",
       model.model_type, plan.model.name.origin.where});
}

// What of the models' code changed in an old version, only a run of it tells.
void check_family(TrainingPlan& plan, const Architecture& model) {
  const std::string_view read = transformers_in(plan.framework);
  const auto is_read = [&](const ingestion::StackLayer& layer) {
    return layer.package == "transformers" && ingestion::covers(layer, read) && !layer.families.empty();
  };
  const auto& layers = ingestion::stack_layers();
  const auto found = read.empty() ? layers.end() : std::ranges::find_if(layers, is_read);
  if (found == layers.end() || std::ranges::count(found->families, model.model_type) > 0) return;
  plan.unmodelled.push_back(
      {"the code of transformers " + std::string(read) + " for this family, of which no run was measured,",
       model.model_type, plan.model.name.origin.where});
}

using OpAttribute = std::pair<std::string, Attribute>;

bool has_op(const Architecture& model, std::string_view op, std::string_view attribute = {}) {
  const auto is = [&](const OpSpec& spec) {
    const auto& given = spec.attributes;
    return spec.op == op && (attribute.empty() || std::ranges::count(given, attribute, &OpAttribute::first) > 0);
  };
  return std::ranges::any_of(model.body, [&](const Segment& segment) {
    return std::ranges::any_of(segment.kinds, [&](const auto& block) { return std::ranges::any_of(block, is); });
  });
}

// axolotl 0.18.0, monkeypatch/lora_kernels.py, get_attention_cls_from_config: of a mistral3 it patches
// MistralAttention, which a Ministral 3 has none of.
void check_patched_attention(TrainingPlan& plan, const Architecture& model) {
  const bool missed = model.model_type == "mistral3" && has_op(model, "rotary_attention", "scaled_by_position");
  if (plan.dialect != "axolotl" || !missed) return;
  const Origin origin = ingestion::stack_of("axolotl-0.18").origin("axolotl", "get_attention_cls_from_config");
  plan.kernels.lora_qkv = {false, origin};
  plan.kernels.lora_o = {false, origin};
}

bool asks_for_attention_kernels(const TrainingPlan& plan) {
  // One that is asked for and joins modules without LoRA is off, for a reason of its own
  // (dialects/axolotl/adapter.cpp).
  const auto asked = [](const Setting<bool>& kernel) { return kernel.value || !kernel.origin.derivation.empty(); };
  const bool adapts = plan.dialect == "axolotl" && plan.adapter.kind.value == Adapter::lora;
  return adapts && (asked(plan.kernels.lora_qkv) || asked(plan.kernels.lora_o));
}

// axolotl 0.18.0, monkeypatch/lora_kernels.py, patch_self_attn_lora: it writes lines of the attention's source anew,
// whatever carries LoRA, and stops where they are not there, or where it finds no class by the model's type. Of
// transformers 5.14.1; Kimi Linear's code is not its own, and was not run.
std::optional<Diagnostic> refused_by_lora_kernels(const TrainingPlan& plan, const Architecture& model) {
  constexpr auto rewritten = std::to_array<std::string_view>(
      {"apertus",          "arcee",          "bamba",   "cohere2",     "ernie4_5",    "ernie4_5_moe",
       "exaone4",          "gemma",          "gemma2",  "gemma3",      "gemma3_text", "gemma4",
       "gemma4_text",      "glm4",           "gpt_oss", "granite",     "granitemoe",  "granitemoehybrid",
       "hunyuan_v1_dense", "hunyuan_v1_moe", "jamba",   "llama",       "ministral",   "ministral3",
       "mistral",          "mistral3",       "mixtral", "nemotron",    "phimoe",      "qwen2",
       "qwen2_moe",        "qwen3",          "qwen3_5", "qwen3_5_moe", "qwen3_moe",   "qwen3_next",
       "qwen3_vl",         "seed_oss",       "smollm3", "starcoder2",  "kimi_linear"});
  if (!asks_for_attention_kernels(plan) || std::ranges::count(rewritten, model.model_type) > 0) return std::nullopt;
  const Setting<bool>& kernel = plan.kernels.lora_qkv;
  const bool said = kernel.origin.is_said();
  return Diagnostic{Severity::error,
                    "ingest/refused",
                    "lora_qkv_kernel, lora_o_kernel: axolotl 0.18.0 stops before it trains a model of type " +
                        model.model_type + ", whose attention it cannot rewrite for these kernels" +
                        (said ? "" : ", which are on where nothing is said of LoRA's kernels"),
                    said ? kernel.origin.where : plan.model.name.origin.where,
                    "lora_qkv_kernel: false and lora_o_kernel: false",
                    {}};
}

// Axolotl loads the whole model whatever it is trained on, freezes nothing of it by itself, and adapts every linear
// layer, the tower's too (axolotl 0.18.0: loaders/model.py, loaders/adapter.py). Measured for these, adapters with
// checkpoints alone.
bool loads_tower_whole(const TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 2> measured{"gemma3", "mistral3"};
  const bool measured_so = plan.adapter.kind.value == Adapter::none || plan.checkpointing.on.value;
  return plan.dialect == "axolotl" && plan.images.count.value == 0 && measured_so &&
         std::ranges::count(measured, model.model_type) > 0 && has_op(model, "rotary_attention");
}

// Axolotl's and LLaMA-Factory's loaders freeze towers, and leave them out of all-linear, by rules of their own.
void check_towers(TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 2> own_loaders{"axolotl", "llamafactory"};
  const bool sees = std::ranges::any_of(model.body, &Segment::tower) && !loads_tower_whole(plan, model);
  if (std::ranges::count(own_loaders, plan.dialect) == 0) return;
  const auto add = [&](const std::string& feature) {
    plan.unmodelled.push_back({feature, model.model_type, plan.model.name.origin.where});
  };
  if (sees) add("what " + plan.dialect + " freezes and adapts of a model that sees images,");
  // loaders/model.py, model/loader.py: AutoModelForCausalLM, which is a decoder alone, or no class of theirs.
  if (model.task != Task::causal_lm) add("the class that " + plan.dialect + " loads of a model for another task");
}

// llamafactory 0.9.5, model/model_utils/liger_kernel.py: other models are trained as they are, with a warning.
void check_liger_models(TrainingPlan& plan, const Architecture& model) {
  constexpr auto patched = std::to_array<std::string_view>(
      {"gemma", "gemma2",   "gemma3",     "gemma3_text", "glm",       "glm4",       "glm4v",     "granite",
       "llama", "llava",    "mistral",    "mixtral",     "mllama",    "olmo2",      "paligemma", "phi3",
       "qwen2", "qwen2_vl", "qwen2_5_vl", "qwen3",       "qwen3_moe", "qwen3_next", "qwen3_5",   "gpt_oss"});
  if (plan.dialect != "llamafactory" || std::ranges::count(patched, model.model_type) > 0) return;
  if (plan.recipe.loss.value != Loss::liger_fused_linear) return;
  const Origin origin = ingestion::stack_of("llamafactory-0.9").origin("llamafactory", "apply_liger_kernel");
  for (Setting<bool>* part : {&plan.kernels.liger_rms_norm, &plan.kernels.liger_rope, &plan.kernels.liger_glu}) {
    *part = {false, origin};
  }
  plan.recipe.loss = {Loss::full_logits, origin};
}

// llamafactory 0.9.5, model/model_utils/attention.py: a Gemma 2 gets no sdpa but where it is asked for. It gets
// flash-attn where that is installed, which no config says and LLaMA-Factory does not ask for, and eager else.
void check_gemma2(TrainingPlan& plan, const Architecture& model) {
  Setting<Attention>& attention = plan.kernels.attention;
  if (plan.dialect != "llamafactory" || model.model_type != "gemma2" || attention.origin.is_said()) return;
  attention = {Attention::eager, ingestion::stack_of("llamafactory-0.9")
                                     .origin("llamafactory", "configure_attn_implementation, without flash-attn")};
}

// llamafactory 0.9.5, v1/plugins/model_plugins/kernels: of its kernels only the experts' is for CUDA, for the models
// of _TRITON_MOE_MAPPING.
void check_kernels(TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 3> fused{"mixtral", "qwen3_moe", "qwen3_5_moe"};
  if (plan.dialect != "llamafactory" || std::ranges::count(fused, model.model_type) > 0) return;
  std::erase_if(plan.unmodelled, [](const Unmodelled& gap) { return gap.key == "use_v1_kernels"; });
}

/// hidden_size, or what a config's attribute_map calls so; 0 where it names none.
std::int64_t hidden_size(const Architecture& model) {
  constexpr std::array<std::string_view, 3> names{"hidden_size", "n_embd", "d_model"};
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(model.config, name, [](const auto& row) { return row.first; });
    const auto* size = found == model.config.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
    if (size != nullptr) return *size;
  }
  return 0;
}

// transformers/integrations/deepspeed.py: trainer_config_finalize.
void resolve_zero(TrainingPlan& plan, const Architecture& model) {
  const std::int64_t size = hidden_size(model);
  const auto resolve = [](Setting<std::int64_t>& fact, std::int64_t value, std::string_view how) {
    if (fact.value != by_hidden_size) return;
    fact.value = value;
    fact.origin.derivation += (fact.origin.derivation.empty() ? "" : ", ") + std::string(how);
  };
  if (!is_zero(plan.mesh.sharding.value) || size == 0) return;
  const std::int64_t square = saturating_mul(size, size);
  resolve(plan.mesh.zero_reduce_bucket, square, "the model's hidden size squared");
  resolve(plan.mesh.zero_prefetch, static_cast<std::int64_t>(0.9 * static_cast<double>(square)),
          "0.9 times the model's hidden size squared");
  resolve(plan.mesh.zero_persistence, saturating_mul(size, 10), "10 times the model's hidden size");
}

}  // namespace

Result<TrainingPlan> with_model_defaults(TrainingPlan plan, const Architecture& model) {
  if (Diagnostics errors = check_sdpa(plan, model, plan.kernels.attention); !errors.empty()) return errors;
  add_router_loss(plan, model);
  check_scans(plan, model);
  check_stacks(plan, model);
  if (runs_before(plan, played_transformers())) check_family(plan, model);
  check_patched_attention(plan, model);
  check_towers(plan, model);
  if (std::optional<Diagnostic> refused = refused_by_dense(plan, model)) return *std::move(refused);
  if (std::optional<Diagnostic> refused = refused_teacher(plan, model)) return *std::move(refused);
  if (std::optional<Diagnostic> refused = refused_by_lora_kernels(plan, model)) return *std::move(refused);
  resolve_zero(plan, model);
  check_liger_models(plan, model);
  check_gemma2(plan, model);
  check_kernels(plan, model);
  auto& targets = plan.adapter.targets;
  if (plan.adapter.kind.value == Adapter::none || targets.value != std::vector<std::string>{"peft-default"})
    return plan;
  const ingestion::Stack& peft = ingestion::stack_of("peft-0.21");
  const auto& by_type = peft.layers().front().targets;
  const auto found = std::ranges::find(by_type, model.model_type, [](const auto& row) { return row.first; });
  if (found == by_type.end()) return no_default(model.model_type);
  targets = {found->second, peft.origin("peft", "target modules of " + model.model_type)};
  return plan;
}

}  // namespace oomplan
