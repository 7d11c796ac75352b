// torchtune 0.6.1: its recipes for one GPU (recipes/full_finetune_single_device.py, lora_finetune_single_device.py); of
// its repository after that also those for several (full_finetune_distributed.py, lora_finetune_distributed.py).
// What no line of keys.yaml can say of their configs.
#include <algorithm>
#include <array>

#include "../../condition.hpp"
#include "../../dialect.hpp"
#include "../../versions.hpp"

namespace oomplan::ingestion {
namespace {

/// LinearCrossEntropyLoss came after 0.6.1.
constexpr std::string_view first_linear = "0.7";

bool is_newer(const Arguments& args) {
  const auto loss = args.get<std::string>("loss._component_");
  return loss.value && loss.value->ends_with(".LinearCrossEntropyLoss");
}

const Stack& stack(const Arguments& args) { return stack_of(is_newer(args) ? "torchtune-0.7" : "torchtune-0.6"); }

// ---- Components ----------------------------------------------------------------------------------------------------

/// A class or function by its path, and the word that a plan has for it.
struct Component {
  std::string_view path{};
  std::string_view word{};
};

constexpr auto optimizers = std::to_array<Component>({
    {"torch.optim.AdamW", "adamw_foreach"},
    {"bitsandbytes.optim.PagedAdamW8bit", "paged_adamw_8bit"},
    {"bitsandbytes.optim.PagedAdamW", "paged_adamw_32bit"},
    {"bitsandbytes.optim.PagedAdamW32bit", "paged_adamw_32bit"},
    {"bitsandbytes.optim.AdamW8bit", "adamw_8bit"},
});

constexpr auto losses = std::to_array<Component>({
    {"torchtune.modules.loss.CEWithChunkedOutputLoss", "chunked_output"},
    {"torchtune.modules.loss.LinearCrossEntropyLoss", "linear_cross_entropy"},
});

constexpr std::string_view preferences = "torchtune.rlhf.loss.DPOLoss";

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

void gap(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

// ---- The model -----------------------------------------------------------------------------------------------------

constexpr std::string_view builders = "torchtune.models.";

/// A path of another library is no builder: torchtune would import it and call it.
void check_builder(const Arguments& args, Draft& draft, const Document& document) {
  const auto model = args.get<std::string>("model._component_");
  if (!model.value || model.value->starts_with(builders)) return;
  conflict(draft, model.origin, document,
           "model._component_: " + *model.value + " is no builder of " + std::string(builders) +
               "…, the only ones whose models are known");
}

/// What a builder without LoRA stops at, as it has no such argument.
void check_plain_builder(const Arguments& args, const Inputs& inputs, Draft& draft, const Document& document) {
  constexpr auto lora_alone =
      std::to_array<std::string_view>({"lora_attn_modules", "apply_lora_to_mlp", "apply_lora_to_output", "lora_rank",
                                       "lora_alpha", "lora_dropout", "use_dora", "quantize_base"});
  const auto model = args.get<std::string>("model._component_");
  for (const std::string_view key : lora_alone) {
    if (find_value(inputs, "model." + std::string(key)) == nullptr) continue;
    return conflict(draft, model.origin, document,
                    std::string(last_part(model.value.value_or(""))) + " has no argument " + std::string(key) +
                        ", which the builders that begin with lora_ have");
  }
}

// A builder's name says whether it adapts: lora_llama3_1_8b; qlora_… is that with quantize_base.
void plan_adapter(const Arguments& args, Draft& draft) {
  AdapterFacts& adapter = draft.plan.adapter;
  const auto model = args.get<std::string>("model._component_");
  if (!model.value) return;
  const std::string_view builder = last_part(*model.value);
  const bool quantized = builder.starts_with("qlora_") || args.on("model.quantize_base");
  const bool adapts = builder.starts_with("lora_") || builder.starts_with("qlora_");
  adapter.kind = {adapts ? Adapter::lora : Adapter::none, model.origin};
  // lora_finetune_single_device.py reads no optimizer_in_bwd.
  if (adapts) draft.plan.optimizer.in_backward = {false, model.origin};
  if (quantized) draft.plan.quantization.kind = {Quantization::nf4, model.origin};
}

// lora_llama3_self_attention and its like look for these four names in lora_attn_modules, and stop at an empty list;
// the MLP's and the head's are asked for by a switch each.
void plan_targets(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 4> known{"q_proj", "k_proj", "v_proj", "output_proj"};
  const auto attention = args.get<std::vector<std::string>>("model.lora_attn_modules");
  if (!attention.value) return;
  if (attention.value->empty()) {
    return conflict(draft, attention.origin, document, "torchtune's builders stop at an empty lora_attn_modules");
  }
  Setting<std::vector<std::string>>& targets = draft.plan.adapter.targets;
  targets = {*attention.value, attention.origin};
  if (std::erase_if(targets.value, [&](const std::string& name) { return std::ranges::count(known, name) == 0; }) > 0) {
    derive(targets.origin, "of which torchtune adapts q_proj, k_proj, v_proj and output_proj alone");
  }
  const auto add = [&](std::string_view key, std::initializer_list<const char*> names) {
    if (!args.on(key)) return;
    targets.value.insert(targets.value.end(), names.begin(), names.end());
    derive(targets.origin, "with those of " + std::string(key));
  };
  add("model.apply_lora_to_mlp", {"w1", "w2", "w3"});
  add("model.apply_lora_to_output", {"output"});
}

// The builders of Qwen's models quantize what they adapt; those of others all layers, but the head.
void plan_unquantized(const Arguments& args, Draft& draft) {
  constexpr auto adaptable =
      std::to_array<std::string_view>({"q_proj", "k_proj", "v_proj", "output_proj", "w1", "w2", "w3"});
  const auto model = args.get<std::string>("model._component_");
  const bool quantizes = draft.plan.quantization.kind.value != Quantization::none;
  if (!quantizes || !model.value->starts_with("torchtune.models.qwen")) return;
  const std::vector<std::string>& targets = draft.plan.adapter.targets.value;
  Setting<std::vector<std::string>>& skipped = draft.plan.quantization.skipped;
  skipped = {{}, model.origin};
  for (const std::string_view name : adaptable) {
    if (std::ranges::count(targets, name) == 0) skipped.value.emplace_back(name);
  }
}

// qat_single_device.py, which came after 0.6.1.
void plan_fake_quantization(const Arguments& args, Draft& draft) {
  constexpr std::int64_t usual_group = 256;
  const auto quantizer = args.get<std::string>("quantizer._component_");
  if (!quantizer.value) return;
  const auto group = args.get<std::int64_t>("quantizer.groupsize");
  draft.plan.quantization.fake_group = {group.value.value_or(usual_group),
                                        group.value ? group.origin : quantizer.origin};
  if (!is_newer(args)) gap(draft, "quantization-aware training by torchtune 0.6.1", "quantizer", quantizer.origin);
}

// ---- The batch and the step ----------------------------------------------------------------------------------------

void plan_length(const Arguments& args, Draft& draft, const Document& document) {
  const auto limit = args.get<std::int64_t>("tokenizer.max_seq_len");
  if (limit.value && *limit.value > 0) {
    draft.plan.batch.sequence_length = {*limit.value, limit.origin};
    return;
  }
  miss(draft, document, "sequence_length", {"tokenizer.max_seq_len"},
       "tokenizer.max_seq_len is not given, so rows are as long as the data",
       "give tokenizer.max_seq_len, or the longest row's tokens: --set sequence_length=…");
}

/// torch.optim.AdamW's fused and foreach, which it chooses itself where neither is given (torch/optim/adam.py).
std::string way_of(const Arguments& args, std::string_view word) {
  if (word != "adamw_foreach") return std::string(word);
  if (args.on("optimizer.fused")) return "adamw_fused";
  if (args.on("optimizer.foreach")) return std::string(word);
  const bool said = args.get<bool>("optimizer.fused").value || args.get<bool>("optimizer.foreach").value;
  return said ? "adamw_for_each" : std::string(word);
}

void plan_optimizer(const Arguments& args, Draft& draft) {
  const auto path = args.get<std::string>("optimizer._component_");
  if (!path.value) return;
  const auto* found = std::ranges::find(optimizers, *path.value, &Component::path);
  if (found == optimizers.end()) return gap(draft, "optimizer " + *path.value, "optimizer._component_", path.origin);
  draft.plan.optimizer.name = {way_of(args, found->word), path.origin};
}

// lora_dpo_single_device.py, lora_dpo_distributed.py: the reference is the policy without its adapter, and no gradient
// is clipped. full_dpo_distributed.py: it is a model of its own.
void plan_pairs(const Arguments& args, const Origin& origin, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  plan.recipe.kind = {RecipeKind::raised_pairs, origin};
  plan.recipe.loss = {Loss::full_logits, origin};
  plan.recipe.reference = {adapts ? Reference::adapter_off : Reference::model, origin};
  if (adapts) plan.optimizer.clip_gradients = {false, origin};
  const StackLayer& layer = stack(args).layers().front();
  if (!is_older(layer.version, first_linear))
    gap(draft, "DPO by torchtune " + layer.version + ", of which no run was measured,", "loss._component_", origin);
}

void plan_loss(const Arguments& args, Draft& draft, const Document& document) {
  const auto path = args.get<std::string>("loss._component_");
  if (!path.value) return;
  if (*path.value == preferences) return plan_pairs(args, path.origin, draft);
  const auto* found = std::ranges::find(losses, *path.value, &Component::path);
  if (found == losses.end()) return gap(draft, "the loss " + *path.value, "loss._component_", path.origin);
  const StackLayer& layer = stack(args).layers().front();
  const bool before = is_older(layer.version, first_linear);
  if (is_newer(args) && before) {
    return conflict(draft, path.origin, document, "torchtune " + layer.version + " has no LinearCrossEntropyLoss");
  }
  if (!is_newer(args) && !before)
    gap(draft, "CEWithChunkedOutputLoss by torchtune " + layer.version + ", of which no run was measured,",
        "loss._component_", path.origin);
  draft.plan.recipe.loss = {is_newer(args) ? Loss::linear_cross_entropy : Loss::chunked_output, path.origin};
}

// float() of it: "inf" too, which leaves gradients as they are and works out their norms all the same.
void plan_clipping(const Inputs& inputs, Draft& draft) {
  const auto input = std::ranges::find(inputs, "clip_grad_norm", &Input::key);
  if (input == inputs.end() || input->value->kind == Node::Kind::null) return;
  const bool infinite = input->value->text == "inf" || input->value->text == ".inf";
  if (!infinite && !input->value->as_number()) {
    draft.errors.push_back(bad_value(*input, "a number, or inf", {}));
  }
  draft.plan.optimizer.clip_gradients = {true, origin_of(*input)};
}

// shard_model: the blocks and the modules that are named, and then all else with the root, which after 0.6.1 stays
// whole.
void plan_sharding(const Arguments& args, Draft& draft) {
  MeshFacts& mesh = draft.plan.mesh;
  const auto offload = args.get<bool>("fsdp_cpu_offload");
  const auto reshard = args.get<bool>("fsdp_reshard_after_forward");
  for (const auto* said : {&offload, &reshard}) {
    if (said->value) mesh.sharding = {Sharding::fsdp2, said->origin};
  }
  if (offload.value) mesh.fsdp_offload = {*offload.value, offload.origin};
  if (reshard.value && !*reshard.value) mesh.fsdp_reshard = {Reshard::never, reshard.origin};
  const auto modules = args.get<std::vector<std::string>>("custom_sharded_layers");
  if (!modules.value) return;
  mesh.fsdp_modules = {*modules.value, modules.origin};
  mesh.sharding = {Sharding::fsdp2, modules.origin};
}

// training/_activation_offloading.py, which TRL's is made of.
void plan_offload(const Arguments& args, Setting<Offload>& offload) {
  const auto asked = args.get<bool>("enable_activation_offloading");
  if (asked.value) offload = {*asked.value ? Offload::streamed : Offload::none, asked.origin};
}

void plan_dtype(const Arguments& args, const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 3> names{"bf16", "fp32", "fp16"};
  constexpr std::array dtypes{WeightsDType::bf16, WeightsDType::fp32, WeightsDType::fp16};
  const auto dtype = args.get<std::string>("dtype");
  if (!dtype.value) return;
  const auto* found = std::ranges::find(names, *dtype.value);
  if (found != names.end()) {
    draft.plan.precision.weights_dtype = {dtypes.at(static_cast<std::size_t>(found - names.begin())), dtype.origin};
    return;
  }
  const auto input = std::ranges::find(inputs, "dtype", &Input::key);
  if (input != inputs.end()) draft.errors.push_back(bad_value(*input, "one of bf16, fp32, fp16", names));
  draft.bad_keys.emplace_back("dtype");
}

// ---- All of it -----------------------------------------------------------------------------------------------------

void check(const Arguments& args, Draft& draft, const Document& document) {
  if (draft.plan.model.name.value.empty()) {
    miss(draft, document, "model", {"model._component_"}, "model._component_ is not given",
         "add the model's builder, or --set plan.model=…");
  }
  const bool listed = args.get<std::vector<std::string>>("model.lora_attn_modules").value.has_value();
  if (draft.plan.adapter.kind.value != Adapter::none && draft.plan.adapter.targets.value.empty() && !listed) {
    miss(draft, document, "lora_targets", {"model.lora_attn_modules"},
         "model.lora_attn_modules is not given, which torchtune's builders want",
         "add lora_attn_modules: [q_proj, v_proj]");
  }
}

/// Without a list of datasets, of which each is as `dataset` else is; what they ask for goes to the draft.
Inputs without_list(Inputs inputs, Draft& draft) {
  const auto found = std::ranges::find(inputs, "dataset", &Input::key);
  if (found == inputs.end() || !found->value->is_sequence()) return inputs;
  for (const Node& one : found->value->items) {
    const Node* packed = one.find("packed");
    if (packed != nullptr && is_set(*packed))
      gap(draft, "packed rows of several datasets", "dataset", origin_of(*found));
  }
  inputs.erase(found);
  return inputs;
}

Draft read(const Inputs& given, const Document& document) {
  Draft draft;
  const Inputs inputs = without_list(given, draft);
  const Arguments args = read_arguments("torchtune", {}, inputs, draft);
  begin(draft, stack(args), args);
  TrainingPlan& plan = draft.plan;
  plan.framework = stack(args).name_of("torchtune");
  plan_supervised(plan);
  check_builder(args, draft, document);
  plan_adapter(args, draft);
  if (plan.adapter.kind.value == Adapter::none && draft.errors.empty()) {
    check_plain_builder(args, inputs, draft, document);
  }
  plan_targets(args, draft, document);
  plan_unquantized(args, draft);
  plan_fake_quantization(args, draft);
  plan_dtype(args, inputs, draft);
  plan_length(args, draft, document);
  plan_offload(args, plan.checkpointing.offload);
  plan_sharding(args, draft);
  plan_optimizer(args, draft);
  plan_clipping(inputs, draft);
  plan_loss(args, draft, document);
  check(args, draft, document);
  return draft;
}

// ---- Back to the config --------------------------------------------------------------------------------------------

Said optimizer_path(const TrainingPlan& plan) {
  const std::string& name = plan.optimizer.name.value;
  if (name.starts_with("adamw_fo") || name == "adamw_fused") return "torch.optim.AdamW";
  const auto* found = std::ranges::find(optimizers, name, &Component::word);
  return found == optimizers.end() ? Said() : Said(found->path);
}

constexpr auto sayings = std::to_array<Saying>({
    {"optimizer", "optimizer._component_", optimizer_path},
    {"optimizer", "optimizer.fused",
     [](const TrainingPlan& p) {
       return flag_where(p.optimizer.name.value.starts_with("adamw_f"), p.optimizer.name.value == "adamw_fused");
     }},
    {"quantization", "model.quantize_base",
     [](const TrainingPlan& p) {
       const Quantization kind = p.quantization.kind.value;
       const bool says =
           p.adapter.kind.value == Adapter::lora && (kind == Quantization::none || kind == Quantization::nf4);
       return flag_where(says, kind == Quantization::nf4);
     }},
    {"activation_offload", "enable_activation_offloading",
     [](const TrainingPlan& p) { return flag(p.checkpointing.offload.value != Offload::none); }},
    {"sequence_length", "tokenizer.max_seq_len",
     [](const TrainingPlan& p) { return count_where(true, p.batch.sequence_length.value); }},
});

// Two of these tell its configs: a component tree of its recipes.
constexpr auto tells = std::to_array<std::string_view>(
    {"tokenizer", "checkpointer", "metric_logger", "resume_from_checkpoint", "max_steps_per_epoch", "optimizer_in_bwd",
     "enable_activation_checkpointing", "enable_activation_offloading", "save_adapter_weights_only",
     "log_peak_memory_stats"});

}  // namespace

namespace dialects {
extern const Dialect torchtune;
const Dialect torchtune{.name = "torchtune",
                        .about = "the configs of torchtune's recipes",
                        .model_key = "model",
                        .read = read,
                        .sayings = sayings,
                        .tells = tells,
                        .shards = true};
}  // namespace dialects

}  // namespace oomplan::ingestion
