// What a config leaves to the model.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "dialect.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "oomplan/catalog/older_code.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "quantized_checkpoint.hpp"
#include "stack.hpp"
#include "versions.hpp"
#include "vocabulary.hpp"

namespace oomplan {
namespace {

Diagnostic no_sdpa(const std::string& model_type, const Origin& origin) {
  return {Severity::error,
          "ingest/conflict",
          "transformers has no sdpa attention for " + model_type + " and refuses to load it so",
          origin.where,
          "ask for eager, which is what it takes where nothing is asked for",
          {}};
}

std::string_view transformers_in(std::string_view text) { return ingestion::version_behind("transformers", text); }

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

Diagnostic refused(std::string message, const Location& where, std::string hint = {}) {
  return {.code = "ingest/refused", .message = std::move(message), .where = where, .hint = std::move(hint)};
}

/// peft's table of targets (utils/constants.py); null where it has no row for the type.
const std::vector<std::string>* targets_by_type(const ingestion::Stack& peft, const std::string& model_type) {
  const auto& by_type = peft.layers().front().targets;
  const auto found = std::ranges::find(by_type, model_type, [](const auto& row) { return row.first; });
  return found == by_type.end() ? nullptr : &found->second;
}

// peft's tuners raise a ValueError.
Diagnostic no_default(const ingestion::Stack& peft, const std::string& model_type, const Location& where) {
  return refused(
      "no LoRA targets are given, and " + peft.name_of("peft") + " has no default for " + model_type + ": it stops",
      where, "give the framework's key for target modules, or --set plan.lora_targets=[…]");
}

// trl 1.16.0: SFTTrainer, of which GKDTrainer is one, DPOTrainer and KTOTrainer add the load-balancing loss of a
// mixture's routers, unless its coefficient, the config's or else the model's, is 0. TRL has done so since 1.7.
void add_router_loss(TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 4> adding{"sft", "dpo", "kto", "gkd"};
  const std::string_view trl = ingestion::version_behind("trl", plan.framework);
  const bool adds = !trl.empty() && std::ranges::count(adding, plan.recipe.trainer.value) > 0;
  Setting<bool>& added = plan.recipe.router_loss;
  if (!adds || added.origin.is_said() || ingestion::is_older(trl, "1.7")) return;
  // Before 1.16 by a coefficient of their own, whatever the model's.
  const bool is_own = ingestion::is_older(trl, ingestion::stack_of("trl-1.16").layers().front().version);
  added = {is_own ? model.router_logits : model.router_loss != 0,
           {Origin::Kind::framework_default, "trl " + std::string(trl) + ": router_aux_loss_coef"}};
}

// What of that loss nobody ran.
void check_router_loss(TrainingPlan& plan, const Architecture& model) {
  const Setting<bool>& added = plan.recipe.router_loss;
  // Its trainers of preferences are those of TRL 1.8.0, and the loss that of transformers 5.14.1: of all layers at
  // once.
  const bool preference = plan.recipe.trainer.value == "dpo" || plan.recipe.trainer.value == "kto";
  if (plan.dialect == "axolotl" && preference && model.router_logits)
    plan.unmodelled.push_back({"the load-balancing loss of a mixture's routers, which TRL 1.8.0 adds,", "rl",
                               plan.recipe.trainer.origin.where});
  if (!added.value) return;
  const Location& where = added.origin.is_said() ? added.origin.where : plan.model.name.origin.where;
  const auto cannot = [&](const std::string& what) {
    plan.unmodelled.push_back({"the load-balancing loss of a mixture's routers" + what, "router_aux_loss_coef", where});
  };
  const std::string trl(ingestion::version_behind("trl", plan.framework));
  const std::string& played = ingestion::stack_of("trl-1.16").layers().front().version;
  if (!trl.empty() && ingestion::is_older(trl, played)) cannot(" by trl " + trl);
  if (model.router_loss == 0) cannot(" of a model whose config has no coefficient for it");
  if (plan.recipe.trainer.value == "gkd") cannot(" in distillation");
  if (plan.recipe.label_smoothing.value) cannot(" beside label smoothing");
}

// trl 1.16.0: the trainers refuse a coefficient other than 0 where the model's config has no output_router_logits, and
// their head stops at some that have it.
std::optional<Diagnostic> refused_router_loss(const TrainingPlan& plan, const Architecture& model) {
  const Setting<bool>& added = plan.recipe.router_loss;
  if (!added.value || ingestion::version_behind("trl", plan.framework).empty()) return std::nullopt;
  if (!model.router_logits)
    return refused("router_aux_loss_coef: trl 1.16.0 refuses it where the model (" + model.model_type +
                       ") is no mixture of experts",
                   added.origin.where);
  if (model.no_router_loss.empty()) return std::nullopt;
  return refused("the load-balancing loss, which TRL adds for " + model.model_type +
                     " by itself, stops the run: " + model.no_router_loss,
                 added.origin.is_said() ? added.origin.where : plan.model.name.origin.where,
                 "router_aux_loss_coef: 0 switches it off");
}

// trl 1.16.0: GKDTrainer.__init__.
std::optional<Diagnostic> refused_teacher(const TrainingPlan& plan, const Architecture& model) {
  if (model.teacher == nullptr || vocabulary_of(model) == vocabulary_of(*model.teacher)) return std::nullopt;
  return refused("the teacher has a vocabulary of " + std::to_string(vocabulary_of(*model.teacher)) +
                     " and the student one of " + std::to_string(vocabulary_of(model)) +
                     ": TRL's GKDTrainer compares whole distributions, and refuses them",
                 plan.model.teacher.origin.where);
}

/// Whether a layer scans its tokens in Python's code that is played only as the source's version has it.
bool scans(const TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 7> ops{"mamba_mixer",     "mamba2_mixer",         "zamba_mamba_mixer",
                                                "gated_delta_net", "kimi_delta_attention", "lightning_attention",
                                                "olmo_delta_net"};
  const auto is_scan = [&](const OpSpec& spec) {
    return std::ranges::count(ops, spec.op) > 0 && !runs_older_code(spec, plan.framework);
  };
  return any_op(model, is_scan);
}

const std::string& played_transformers() { return ingestion::stack_of("transformers-5.23").layers().front().version; }

// False where the config names no version.
bool runs_before(const TrainingPlan& plan, std::string_view version) {
  const std::string_view read = transformers_in(plan.framework);
  return !read.empty() && ingestion::is_older(read, version);
}

// transformers 5.23.0, integrations/hub_kernels.py: use_kernel_func_from_hub_with_fallback. TRL hands on where packed
// rows begin, unless it cuts them as they come (packing_strategy: wrapped), which leaves no mask to send.
std::optional<Diagnostic> refused_packed_scan(const TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 4> ops{"gated_delta_net", "mamba2_mixer", "short_conv", "olmo_delta_net"};
  const auto keeps_apart = [&](const OpSpec& spec) { return std::ranges::count(ops, spec.op) > 0; };
  const bool trl = !ingestion::version_behind("trl", plan.framework).empty();
  const bool apart = plan.batch.padding_mask.value || !plan.batch.mask_sent.value;
  if (!trl || !plan.loader.packed.value || !apart || plan.kernels.scan_packages.value) return std::nullopt;
  if (!any_op(model, keeps_apart) || runs_before(plan, played_transformers())) return std::nullopt;
  return refused("transformers stops at packed rows of " + model.model_type +
                     " where causal-conv1d, mamba-ssm or flash-linear-attention is not installed",
                 plan.loader.packed.origin.where,
                 "with them installed, --set plan.scan_packages=true; packing_strategy: wrapped runs without them");
}

// trl 0.22 to 1.16: trainer/sft_trainer.py, of a model that comes with a processor, whatever its rows are.
std::optional<Diagnostic> refused_packed_pictures(const TrainingPlan& plan, const Architecture& model) {
  const std::string_view trl = ingestion::version_behind("trl", plan.framework);
  const bool asked = plan.dialect == "hf" && plan.loader.packed.value && has_tower(model);
  if (!asked || trl.empty() || ingestion::is_older(trl, "0.22")) return std::nullopt;
  return refused("TRL's SFTTrainer refuses rows that are packed or joined (padding_free) of a model that sees images",
                 plan.loader.packed.origin.where);
}

// Older versions have loops and products of other sizes there, and no fallback functions; other masks of an indexer.
void check_scans(TrainingPlan& plan, const Architecture& model) {
  const bool indexes = any_op(model, [](const OpSpec& spec) {
    return std::ranges::any_of(spec.attributes, [](const auto& row) { return row.first == "index_heads"; });
  });
  if ((!scans(plan, model) && !indexes) || !runs_before(plan, played_transformers())) return;
  const std::string layers = indexes ? "sparse attention" : "state-space and linear-attention layers";
  plan.unmodelled.push_back({"the code of transformers " + std::string(transformers_in(plan.framework)) + " for " +
                                 layers + ", which is another than that of " + played_transformers() + ",",
                             model.model_type, plan.model.name.origin.where});
}

// Run with transformers 5.14.1 alone.
void check_delta_kernels(TrainingPlan& plan, const Architecture& model) {
  const bool older = any_op(
      model, [&](const OpSpec& spec) { return spec.op == "gated_delta_net" && runs_older_code(spec, plan.framework); });
  if (!plan.kernels.scan_packages.value || !older || transformers_in(plan.framework) == "5.14.1") return;
  plan.unmodelled.push_back(
      {"the kernels of flash-linear-attention under transformers " + std::string(transformers_in(plan.framework)),
       "scan_packages", plan.kernels.scan_packages.origin.where});
}

// T5 had no sdpa attention before 5.23, and nobody compared the others' code.
void check_stacks(TrainingPlan& plan, const Architecture& model) {
  if (model.task != Task::sequence_to_sequence || !runs_before(plan, played_transformers())) return;
  plan.unmodelled.push_back(
      {"the code of transformers " + std::string(transformers_in(plan.framework)) + " for encoder-decoders",
       model.model_type, plan.model.name.origin.where});
}

/// The file of the transformers that is read; null where none stands for it.
const ingestion::StackLayer* layer_read(const TrainingPlan& plan) {
  const std::string_view read = transformers_in(plan.framework);
  const auto is_read = [&](const ingestion::StackLayer& layer) {
    return layer.package == "transformers" && ingestion::covers(layer, read);
  };
  const auto& layers = ingestion::stack_layers();
  const auto found = read.empty() ? layers.end() : std::ranges::find_if(layers, is_read);
  return found == layers.end() ? nullptr : &*found;
}

// What an older version's code of some models does otherwise than that of the others: lists of its file.
void follow_older_models(TrainingPlan& plan, const Architecture& model) {
  const ingestion::StackLayer* layer = layer_read(plan);
  if (layer == nullptr) return;
  const Origin origin{Origin::Kind::framework_default, "transformers " + std::string(transformers_in(plan.framework)) +
                                                           ": the code of " + model.model_type};
  const auto follow = [&](std::string_view name, auto& setting, auto value) {
    if (layer->lists(name, model.model_type) && !setting.origin.is_said()) setting = {value, origin};
  };
  follow("rotary_in_layers", plan.kernels.rotary_in_layers, true);
  follow("additive_mask", plan.kernels.additive_mask, true);
  follow("replaced_logits", plan.recipe.logit_shift, LogitShift::replaced_logits);
}

// transformers 4 has loops over its experts.
void follow_older_experts(TrainingPlan& plan, const Architecture& model) {
  const auto loops = [&](const OpSpec& spec) {
    return (spec.op == "sparse_moe" || spec.op == "biased_moe") && runs_older_code(spec, plan.framework);
  };
  if (!any_op(model, loops)) return;
  const std::string version(transformers_in(plan.framework));
  plan.kernels.experts = {ExpertsImplementation::eager,
                          {Origin::Kind::framework_default, "transformers " + version + ": a loop over the experts"}};
}

// What of the models' code another version changed, only a run of it tells.
void check_family(TrainingPlan& plan, const Architecture& model) {
  const ingestion::StackLayer* found = layer_read(plan);
  if (found == nullptr) return;
  const std::string_view read = transformers_in(plan.framework);
  const auto has = [&](const std::vector<std::string>& families) {
    return std::ranges::count(families, model.model_type) > 0;
  };
  const auto add = [&](std::string_view why) {
    plan.unmodelled.push_back(
        {"the code of transformers " + std::string(read) + " for this family, " + std::string(why) + ",",
         model.model_type, plan.model.name.origin.where});
  };
  if (has(found->other_families)) return add("which is another than that of " + played_transformers());
  if (!found->families.empty() && !has(found->families)) return add("of which no run was measured");
  const Setting<Quantization>& kind = plan.quantization.kind;
  if (kind.value != Quantization::none && found->lists("quantized_otherwise", model.model_type))
    add("which takes another amount where weights are quantized, or was not measured so");
}

// diffusers' add_adapter leaves adapters in the type of what they adapt; its scripts raise them where they train in
// fp16 (cast_training_params).
void follow_denoisers(TrainingPlan& plan, const Architecture& model) {
  Setting<AdapterDType>& dtype = plan.adapter.dtype;
  if (model.task != Task::denoising || plan.adapter.kind.value == Adapter::none || dtype.origin.is_said()) return;
  const bool fp16 =
      plan.precision.autocast.value == Autocast::fp16 || plan.precision.weights_dtype.value == WeightsDType::fp16;
  dtype = {fp16 ? AdapterDType::fp32 : AdapterDType::as_base,
           {Origin::Kind::framework_default,
            fp16 ? "diffusers' training scripts: cast_training_params" : "diffusers: add_adapter"}};
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

// A reference's engine is made by DeepSpeed as TRL's trainers are (trl 1.16: models/utils.py, prepare_deepspeed),
// before transformers fills in what is auto, for which DeepSpeed then takes its own defaults.
void resolve_reference(Setting<std::int64_t>& fact, const Setting<std::int64_t>& trained, std::int64_t own) {
  if (fact.value != by_hidden_size) return;
  const bool automatic = trained.value == by_hidden_size;
  fact = {automatic ? own : trained.value, trained.origin};
  if (automatic) fact.origin.derivation += ", for a reference DeepSpeed's own default";
}

// transformers/integrations/deepspeed.py: trainer_config_finalize.
void resolve_zero(TrainingPlan& plan, const Architecture& model) {
  const std::int64_t size = hidden_size(model);
  const auto resolve = [](Setting<std::int64_t>& fact, std::int64_t value, std::string_view how) {
    if (fact.value != by_hidden_size) return;
    fact.value = value;
    fact.origin.derivation += (fact.origin.derivation.empty() ? "" : ", ") + std::string(how);
  };
  if (!is_zero(plan.mesh.sharding.value)) return;
  const MeshFacts& own = ingestion::stack_of("deepspeed-0.19").plan().mesh;
  resolve_reference(plan.mesh.zero_reference_prefetch, plan.mesh.zero_prefetch, own.zero_prefetch.value);
  resolve_reference(plan.mesh.zero_reference_persistence, plan.mesh.zero_persistence, own.zero_persistence.value);
  if (size == 0) return;
  const std::int64_t square = saturating_mul(size, size);
  resolve(plan.mesh.zero_reduce_bucket, square, "the model's hidden size squared");
  resolve(plan.mesh.zero_prefetch, static_cast<std::int64_t>(0.9 * static_cast<double>(square)),
          "0.9 times the model's hidden size squared");
  resolve(plan.mesh.zero_persistence, saturating_mul(size, 10), "10 times the model's hidden size");
}

}  // namespace

Result<TrainingPlan> with_model_defaults(TrainingPlan plan, const Architecture& model) {
  if (Diagnostics errors = check_sdpa(plan, model, plan.kernels.attention); !errors.empty()) return errors;
  if (std::optional<Diagnostic> refused = ingestion::take_quantized_checkpoint(plan, model)) return *std::move(refused);
  add_router_loss(plan, model);
  check_router_loss(plan, model);
  check_delta_kernels(plan, model);
  check_scans(plan, model);
  check_stacks(plan, model);
  check_family(plan, model);
  follow_older_models(plan, model);
  follow_older_experts(plan, model);
  follow_denoisers(plan, model);
  if (const ingestion::Dialect* dialect = ingestion::find_dialect(plan.dialect);
      dialect != nullptr && dialect->adapt_to_model) {
    if (std::optional<Diagnostic> refused = dialect->adapt_to_model(plan, model)) return *std::move(refused);
  }
  if (std::optional<Diagnostic> refused = ingestion::enlarge_vocabulary(plan, model)) return *std::move(refused);
  if (std::optional<Diagnostic> refused = refused_router_loss(plan, model)) return *std::move(refused);
  if (std::optional<Diagnostic> refused = refused_packed_scan(plan, model)) return *std::move(refused);
  if (std::optional<Diagnostic> refused = refused_packed_pictures(plan, model)) return *std::move(refused);
  if (std::optional<Diagnostic> refused = refused_teacher(plan, model)) return *std::move(refused);
  resolve_zero(plan, model);
  auto& targets = plan.adapter.targets;
  if (plan.adapter.kind.value != Adapter::lora || targets.value != std::vector<std::string>{"peft-default"})
    return plan;
  const ingestion::Stack& peft = ingestion::stack_of("peft-0.21");
  const std::vector<std::string>* found = targets_by_type(peft, model.model_type);
  if (found == nullptr) return no_default(peft, model.model_type, plan.adapter.kind.origin.where);
  targets = {*found, peft.origin("peft", "target modules of " + model.model_type)};
  return plan;
}

bool has_default_targets(const std::string& model_type) {
  return targets_by_type(ingestion::stack_of("peft-0.21"), model_type) != nullptr;
}

}  // namespace oomplan
