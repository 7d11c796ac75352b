// LLaMA-Factory's second trainer (USE_V1=1) in 0.9.6.dev0: v1/core/model_engine.py, v1/core/base_trainer.py and
// v1/plugins. What no line of keys.yaml can say of its arguments.
#include <algorithm>
#include <array>
#include <span>

#include "../../dialect.hpp"
#include "../../loaders.hpp"
#include "oomplan/catalog/architecture.hpp"

namespace oomplan::ingestion {
namespace {

const Stack& stack() { return stack_of("llamafactory-v1"); }

Origin own(std::string_view where) { return stack().origin("llamafactory_v1", where); }

void gap(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

/// The text of a key that has but these words; LLLaMA-Factory stops at any other.
Arg<std::string> word_of(const Arguments& args, std::string_view key, std::span<const std::string_view> words,
                         Draft& draft, const Document& document) {
  Arg<std::string> word = args.get<std::string>(key);
  if (!word.value || std::ranges::count(words, *word.value) > 0) return word;
  std::string expected;
  for (const std::string_view one : words) expected += (expected.empty() ? "one of " : ", ") + std::string(one);
  conflict(draft, word.origin, document, std::string(key) + ": expected " + expected + ", got \"" + *word.value + "\"");
  draft.errors.back().code = "ingest/bad-value";
  draft.bad_keys.emplace_back(key);
  word.value.reset();
  return word;
}

// ---- The model -----------------------------------------------------------------------------------------------------

/// Python's regular expression of names with this in them.
std::string with_in_name(std::string_view text) {
  std::string out = ".*";
  for (const char c : text) out += c == '.' ? std::string("\\.") : std::string(1, c);
  return out;
}

/// get_freeze_model
void plan_freeze(const Arguments& args, TrainingPlan& plan) {
  RecipeFacts& recipe = plan.recipe;
  recipe.trained_layers =
      setting(args.get<std::int64_t>("peft_config.freeze_trainable_layers"), std::int64_t{2}, own("FreezeParams"));
  plan.precision.trained_to_fp32 =
      setting(args.get<bool>("peft_config.cast_trainable_params_to_fp32"), true, own("FreezeParams"));
  const auto modules = args.get<std::vector<std::string>>("peft_config.freeze_trainable_modules");
  if (modules.value && std::ranges::count(*modules.value, "all") == 0) {
    recipe.layer_parts = {*modules.value, modules.origin};
  }
  const auto extra = args.get<std::vector<std::string>>("peft_config.freeze_extra_modules");
  if (!extra.value) return;
  recipe.trained = {{}, extra.origin};
  for (const std::string& name : *extra.value) recipe.trained.value.push_back(with_in_name(name));
}

/// _find_all_linear_modules
void plan_targets(const Arguments& args, Setting<std::vector<std::string>>& targets) {
  const auto given = args.get<std::vector<std::string>>("peft_config.target_modules");
  if (!given.value) return;
  const bool all = *given.value == std::vector<std::string>{"all"};
  targets = {all ? std::vector<std::string>{"all-linear"} : *given.value, given.origin};
}

/// Without an adapter or frozen layers all weights go to fp32, whatever bf16 says (ModelEngine._init_model).
void plan_method(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 2> methods{"lora", "freeze"};
  TrainingPlan& plan = draft.plan;
  const auto method = word_of(args, "peft_config.name", methods, draft, document);
  if (method.value == "lora") {
    plan.adapter.kind = {Adapter::lora, method.origin};
    plan_targets(args, plan.adapter.targets);
  } else if (method.value == "freeze") {
    plan_freeze(args, plan);
  } else {
    plan.precision.trained_to_fp32 = {true, own("ModelEngine, which trains all of the model in fp32")};
  }
}

void plan_quantization(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 2> names{"bnb", "auto"};
  constexpr std::array<std::string_view, 3> dtypes{"float32", "float16", "bfloat16"};
  constexpr std::array played{DType::fp32, DType::fp16, DType::bf16};
  constexpr std::array stored{QuantStorage::fp32, QuantStorage::fp16, QuantStorage::bf16};
  const auto name = word_of(args, "quant_config.name", names, draft, document);
  if (!name.value) return;
  const auto bits = args.get<std::int64_t>("quant_config.quantization_bit");
  if (*name.value == "auto" && !bits.value) return;
  QuantizationFacts& quantization = draft.plan.quantization;
  const auto kind = args.get<Quantization>("quant_config.quantization_type");
  quantization.kind = {kind.value.value_or(Quantization::nf4), kind.value ? kind.origin : name.origin};
  if (bits.value == 8) quantization.kind = {Quantization::int8, bits.origin};
  const auto dtype = word_of(args, "quant_config.compute_dtype", dtypes, draft, document);
  if (!dtype.value) return;
  const auto at = static_cast<std::size_t>(std::ranges::find(dtypes, *dtype.value) - dtypes.begin());
  quantization.compute_dtype = {played.at(at), dtype.origin};
  quantization.storage = {stored.at(at), dtype.origin};
}

void plan_attention(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 3> names{"eager", "sdpa", "flash_attention_2"};
  constexpr std::array played{Attention::eager, Attention::sdpa, Attention::flash_attention_2};
  const auto name = word_of(args, "flash_attn", names, draft, document);
  if (!name.value) return;
  const auto at = static_cast<std::size_t>(std::ranges::find(names, *name.value) - names.begin());
  draft.plan.kernels.attention = {played.at(at), name.origin};
}

/// apply_kernels: on CUDA `auto` is none.
void check_kernels(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 4> known{"auto", "liger_kernel", "cuda_fused_moe", "flash-linear-attention"};
  const auto names = args.get<std::vector<std::string>>("kernel_config.name");
  if (!names.value) return;
  for (const std::string& name : *names.value) {
    if (std::ranges::count(known, name) > 0) continue;
    conflict(draft, names.origin, document,
             "kernel_config.name: LLaMA-Factory has no kernel \"" + name + "\" for NVIDIA's GPUs");
  }
}

void check_words(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 3> places{"init_on_default", "init_on_rank0", "init_on_meta"};
  constexpr std::array<std::string_view, 3> ways{"fsdp2", "deepspeed", "fsdpturbo"};
  constexpr std::array<std::string_view, 1> optimizers{"muon"};
  constexpr std::array<std::string_view, 3> classes{"llm", "cls", "other"};
  word_of(args, "init_config.name", places, draft, document);
  word_of(args, "dist_config.name", ways, draft, document);
  word_of(args, "optim_config.name", optimizers, draft, document);
  word_of(args, "model_class", classes, draft, document);
}

// ---- The batch -----------------------------------------------------------------------------------------------------

/// v1/plugins/trainer_plugins/batching.py: by tokens a batch has as many as micro_batch_size rows of cutoff_len at
/// most, which one of so many such rows has. Rows that are joined were not run.
void plan_batch(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 4> strategies{"normal", "padding_free", "dynamic_batching",
                                                       "dynamic_padding_free"};
  const auto strategy = word_of(args, "batching_strategy", strategies, draft, document);
  if (!strategy.value || strategy.value->find("padding_free") == std::string::npos) return;
  gap(draft, "a batch that is one row", "batching_strategy", strategy.origin);
}

void check_export(const Arguments& args, Draft& draft, const Document& document) {
  const auto folder = args.get<std::string>("peft_config.export_dir");
  if (!folder.value) return;
  conflict(draft, folder.origin, document,
           "peft_config.export_dir: this merges and exports an adapter, and trains nothing");
  draft.errors.back().code = "ingest/no-training";
}

/// No key names the command.
void warn_of_command(Draft& draft, const Document& document) {
  if (!draft.errors.empty() || !draft.missing.empty()) return;
  draft.plan.warnings.push_back({Severity::warning,
                                 "ingest/assumed-trainer",
                                 "read as for LLaMA-Factory's command sft (USE_V1=1); no key says which command it is",
                                 {document.file, 0, 0},
                                 "its commands dpo and rm are not modelled yet",
                                 {}});
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  const Arguments args = read_arguments("llamafactory_v1", {}, inputs, draft);
  begin(draft, stack(), args);
  draft.plan.framework = stack().name_of("llamafactory_v1") + " on " + stack().name_of("transformers");
  plan_supervised(draft.plan);
  check_export(args, draft, document);
  plan_method(args, draft, document);
  plan_quantization(args, draft, document);
  plan_attention(args, draft, document);
  check_kernels(args, draft, document);
  check_words(args, draft, document);
  plan_batch(args, draft, document);
  if (draft.plan.model.name.value.empty()) {
    draft.plan.model.name = {"Qwen/Qwen3-4B-Instruct-2507", own("ModelArguments")};
  }
  warn_of_command(draft, document);
  return draft;
}

// ---- Ranks ---------------------------------------------------------------------------------------------------------

/// BatchGenerator.__init__
void plan_accumulation(const Arg<std::int64_t>& all, Draft& draft, const Document& document) {
  if (!all.value) return;
  const std::int64_t at_once =
      saturating_mul(draft.plan.batch.micro_batch_size.value, draft.plan.mesh.world_size.value);
  if (*all.value % at_once != 0) {
    return conflict(draft, all.origin, document,
                    "LLaMA-Factory wants a global_batch_size that " + std::to_string(at_once) +
                        " divides, the rows that its ranks take at once");
  }
  Setting<std::int64_t>& steps = draft.plan.batch.gradient_accumulation_steps;
  if (steps.origin.kind == Origin::Kind::command_line) return;
  steps = {*all.value / at_once, all.origin};
  derive(steps.origin, "over the " + std::to_string(at_once) + " rows that all ranks take at once");
}

/// prepare_model: fully_shard on units, which init_on_default has made whole on each GPU.
void shard(const Arguments& args, const Arg<std::string>& way, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  MeshFacts& mesh = plan.mesh;
  mesh.sharding = {Sharding::fsdp2, way.origin};
  mesh.fsdp_units = {ShardUnits::llamafactory, own("FSDP2Engine.prepare_model")};
  const auto half = args.get<bool>("bf16");
  const Origin precision = half.value ? half.origin : own("TrainingArguments");
  mesh.fsdp_param_dtype = {half.value.value_or(true) ? MixedDType::bf16 : MixedDType::fp32, precision};
  mesh.fsdp_reduce_dtype = {MixedDType::fp32, own("FSDP2Engine.get_mp_policy")};
  const auto reshard = args.get<bool>("dist_config.reshard_after_forward");
  mesh.fsdp_reshard = {reshard.value.value_or(true) ? Reshard::all : Reshard::never,
                       reshard.value ? reshard.origin : own("FSDP2Params")};
  const auto place = args.get<std::string>("init_config.name");
  mesh.fsdp_loads_whole = {!place.value || *place.value == "init_on_default",
                           place.value ? place.origin : own("ModelEngine")};
  mesh.fsdp_fp32_trained = plan.precision.trained_to_fp32;
  plan.precision.trained_to_fp32 = {false, own("FSDP2Engine, which shards what is in fp32 already")};
  const Setting<Quantization>& quantized = plan.quantization.kind;
  if (quantized.value != Quantization::none)
    gap(draft, "quantized weights under fsdp2", "quant_config", quantized.origin);
  const auto replicas = args.get<std::int64_t>("mp_replicate_size");
  if (replicas.value.value_or(1) > 1) mesh.fsdp_replicas = {*replicas.value, replicas.origin};
  const auto offload = args.get<bool>("dist_config.offload_params");
  if (offload.value.value_or(false)) gap(draft, "shards on the host", "dist_config.offload_params", offload.origin);
}

/// What the keys say of the number of GPUs, where nothing beside them does.
void plan_world(const Arguments& args, Draft& draft) {
  Setting<std::int64_t>& world = draft.plan.mesh.world_size;
  if (world.origin.is_said()) return;
  const auto shards = args.get<std::int64_t>("mp_shard_size");
  const auto rows = args.get<std::int64_t>("dp_size");
  if (shards.value) {
    world = {saturating_mul(*shards.value, args.get<std::int64_t>("mp_replicate_size").value.value_or(1)),
             shards.origin};
  } else if (rows.value) {
    world = {saturating_mul(*rows.value, args.get<std::int64_t>("cp_size").value.value_or(1)), rows.origin};
  }
}

/// DistributedStrategy.__post_init__
void check_degrees(const Arguments& args, Draft& draft, const Document& document) {
  const std::int64_t world = draft.plan.mesh.world_size.value;
  const auto check = [&](std::string_view all, std::string_view part) {
    const auto given = args.get<std::int64_t>(all);
    const std::int64_t groups = args.get<std::int64_t>(part).value.value_or(1);
    if (!given.value || saturating_mul(*given.value, groups) == world) return;
    conflict(draft, given.origin, document,
             "LLaMA-Factory stops: " + std::string(all) + " times " + std::string(part) + " is not its world of " +
                 std::to_string(world));
  };
  check("mp_shard_size", "mp_replicate_size");
  check("dp_size", "cp_size");
}

void spread(const Inputs& inputs, const Document& document, Draft& draft) {
  Draft aside;
  const Arguments args = read_arguments("llamafactory_v1", {}, inputs, aside);
  plan_world(args, draft);
  check_degrees(args, draft, document);
  const auto way = args.get<std::string>("dist_config.name");
  if (draft.plan.mesh.world_size.value > 1) {
    draft.plan.mesh.ddp_find_unused.value = false;
    if (way.value == "fsdp2") shard(args, way, draft);
    if (!way.value)
      gap(draft, "DDP by LLaMA-Factory's second trainer", "dist_config", draft.plan.mesh.world_size.origin);
  } else if (way.value == "fsdp2" && draft.errors.empty() && draft.missing.empty()) {
    draft.plan.warnings.push_back(
        {Severity::warning,
         "ingest/assumed-trainer",
         "read for one GPU, where LLaMA-Factory leaves the model as it is; fsdp2 shards it over as many as it is "
         "started on, which no key says",
         {document.file, 0, 0},
         "--gpu 8xh100 says that there are eight",
         {}});
  }
  // What flash-attn is given is then in fp32, at which it stops.
  const bool whole = draft.plan.precision.trained_to_fp32.value && draft.plan.recipe.trained_layers.value == 0;
  const MeshFacts& mesh = draft.plan.mesh;
  const bool all = whole || (is_fsdp(mesh.sharding.value) && mesh.fsdp_param_dtype.value == MixedDType::fp32);
  const Setting<Attention>& attention = draft.plan.kernels.attention;
  if (all && attention.value == Attention::flash_attention_2)
    gap(draft, "flash attention without mixed precision", "flash_attn", attention.origin);
  plan_accumulation(args.get<std::int64_t>("global_batch_size"), draft, document);
}

/// Of a model that sees, LoRA's targets are the tower's too, and DDP is told that it may rest.
std::optional<Diagnostic> adapt_to_model(TrainingPlan& plan, const Architecture& model) {
  leave_own_task(plan, model);
  if (has_tower(model)) {
    plan.unmodelled.push_back(
        {"a model that sees, as LLaMA-Factory's second trainer has it,", "model", plan.model.name.origin.where});
  }
  return std::nullopt;
}

// ---- Back to the config --------------------------------------------------------------------------------------------

bool freezes(const TrainingPlan& plan) { return plan.recipe.trained_layers.value != 0; }

Said method(const TrainingPlan& plan) {
  if (adapts(plan)) return word_where(says_adapter(plan), "lora");
  return word_where(freezes(plan), "freeze");
}

Said targets(const TrainingPlan& plan) {
  const auto& names = plan.adapter.targets.value;
  if (!adapts(plan)) return {};
  return names == std::vector<std::string>{"all-linear"} ? Said("all") : find_codec("names")->write(names);
}

constexpr auto sayings = std::to_array<Saying>({
    {"adapter", "peft_config.name", method},
    {"lora_targets", "peft_config.target_modules", targets},
    {"quantization", "quant_config.quantization_bit",
     [](const TrainingPlan& p) {
       return is_4bit(p) ? Said("4") : word_where(p.quantization.kind.value == Quantization::int8, "8");
     }},
    {"attention", "flash_attn",
     [](const TrainingPlan& p) {
       constexpr std::array<std::string_view, 3> names{"eager", "sdpa", "flash_attention_2"};
       return Said(std::string(names.at(static_cast<std::size_t>(p.kernels.attention.value))));
     }},
    {"gradient_accumulation_steps", "global_batch_size",
     [](const TrainingPlan& p) {
       return count_where(
           true, p.batch.micro_batch_size.value * p.batch.gradient_accumulation_steps.value * p.mesh.world_size.value);
     }},
});

// Two of these tell its configs.
constexpr auto tells = std::to_array<std::string_view>(
    {"peft_config", "dist_config", "init_config", "kernel_config", "quant_config", "optim_config", "train_dataset",
     "model_class", "sample_backend", "micro_batch_size", "global_batch_size", "batching_strategy", "batching_workers",
     "enable_activation_checkpointing", "mp_replicate_size", "mp_shard_size", "cp_mode"});

}  // namespace

namespace dialects {
extern const Dialect llamafactory_v1;
const Dialect llamafactory_v1{.name = "llamafactory_v1",
                              .about = "the YAML of LLaMA-Factory's second trainer",
                              .model_key = "model",
                              .read = read,
                              .sayings = sayings,
                              .tells = tells,
                              .adapt_to_model = adapt_to_model,
                              .spread = spread};
}  // namespace dialects

}  // namespace oomplan::ingestion
