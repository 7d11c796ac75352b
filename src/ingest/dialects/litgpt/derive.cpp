// litgpt 0.5.13: litgpt/finetune/full.py and lora.py, on one GPU. What no line of keys.yaml can say of their configs.
#include <algorithm>
#include <array>

#include "../../condition.hpp"
#include "../../dialect.hpp"
#include "../../python_values.hpp"

namespace oomplan::ingestion {
namespace {

const Stack& stack() { return stack_of("litgpt-0.5"); }

void gap(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

// ---- The model -----------------------------------------------------------------------------------------------------

/// Before the name of a model that is litgpt's own.
constexpr std::string_view own = "litgpt.";

std::string_view last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

/// What `litgpt pretrain` takes in place of a checkpoint; the run itself is in `unmodelled` of keys.yaml.
const Input* pretrained(const Inputs& inputs) {
  const auto found = std::ranges::find(inputs, "model_name", &Input::key);
  return found == inputs.end() ? nullptr : &*found;
}

/// The checkpoint's folder bears the model's name on the Hub, as `litgpt download` makes it.
void plan_model(const Arguments& args, const Inputs& inputs, Draft& draft, const Document& document) {
  if (const Input* name = pretrained(inputs)) {
    draft.plan.model.name = {std::string(own) + name->value->text, origin_of(*name)};
    return;
  }
  const auto folder = args.get<std::string>("checkpoint_dir");
  if (!folder.value || folder.value->empty()) {
    return miss(draft, document, "model", {"checkpoint_dir"}, "checkpoint_dir is not given",
                "add the checkpoint's folder, or --set plan.model=litgpt.…");
  }
  draft.plan.model.name = {std::string(own) + std::string(last_part(*folder.value)), folder.origin};
  derive(draft.plan.model.name.origin, "whose folder has the model's name");
}

// ---- The adapter ---------------------------------------------------------------------------------------------------

/// A switch of finetune_lora, and the modules that it adapts.
struct Target {
  std::string_view key{};
  bool by_default = false;
  std::array<std::string_view, 4> modules{};
};

constexpr auto targets = std::to_array<Target>({
    {"lora_query", true, {"query"}},
    {"lora_key", false, {"key"}},
    {"lora_value", true, {"value"}},
    {"lora_projection", false, {"attn.proj"}},
    {"lora_mlp", false, {"mlp.fc", "mlp.fc_1", "mlp.fc_2", "mlp.proj"}},
    {"lora_head", false, {"lm_head"}},
});

/// The first key of finetune_lora's alone. No key says which script a config is for.
const Input* lora_key(const Inputs& inputs) {
  const auto is_one = [](const Input& input) { return input.key.starts_with("lora_") || input.key == "quantize"; };
  const auto found = std::ranges::find_if(inputs, is_one);
  return found == inputs.end() ? nullptr : &*found;
}

void plan_targets(const Arguments& args, Draft& draft) {
  Setting<std::vector<std::string>>& planned = draft.plan.adapter.targets;
  planned.value.clear();
  for (const Target& target : targets) {
    const auto asked = args.get<bool>(target.key);
    if (asked.value) planned.origin = asked.origin;
    if (!asked.value.value_or(target.by_default)) continue;
    for (const std::string_view module : target.modules) {
      if (!module.empty()) planned.value.emplace_back(module);
    }
  }
  if (planned.origin.kind == Origin::Kind::config) derive(planned.origin, "with the other switches of finetune_lora");
}

void plan_adapter(const Arguments& args, const Inputs& inputs, Draft& draft, const Document& document) {
  const Input* key = lora_key(inputs);
  AdapterFacts& adapter = draft.plan.adapter;
  if (key == nullptr) {
    adapter.kind = {Adapter::none, stack().origin("litgpt", "finetune/full.py")};
    return;
  }
  adapter.kind = {Adapter::lora, origin_of(*key)};
  draft.plan.recipe.loss = {Loss::chunked_head, stack().origin("litgpt", "finetune/lora.py: fit")};
  plan_targets(args, draft);
  if (adapter.targets.value.empty()) {
    conflict(draft, adapter.targets.origin, document, "without a lora_ switch that is on nothing is trained");
  }
}

// ---- Precision -----------------------------------------------------------------------------------------------------

/// A word of Lightning's, in both spellings.
struct Precision {
  std::string_view word{};
  std::string_view short_word{};
  WeightsDType weights = WeightsDType::fp32;
  Autocast autocast = Autocast::none;
};

constexpr auto precisions = std::to_array<Precision>({
    {"bf16-true", "", WeightsDType::bf16, Autocast::none},
    {"bf16-mixed", "bf16", WeightsDType::fp32, Autocast::bf16},
    {"32-true", "32", WeightsDType::fp32, Autocast::none},
    {"16-true", "", WeightsDType::fp16, Autocast::none},
});

void plan_precision(const Arguments& args, Draft& draft) {
  const auto word = args.get<std::string>("precision");
  if (!word.value) return;
  const auto is_it = [&](const Precision& p) { return p.word == *word.value || p.short_word == *word.value; };
  const auto* found = std::ranges::find_if(precisions, is_it);
  if (found == precisions.end()) return gap(draft, "precision " + *word.value, "precision", word.origin);
  draft.plan.precision.weights_dtype = {found->weights, word.origin};
  draft.plan.precision.autocast = {found->autocast, word.origin};
}

/// A word of `quantize`.
struct Bits {
  std::string_view word{};
  Quantization kind = Quantization::none;
  bool doubly = false;
};

constexpr auto bits = std::to_array<Bits>({
    {"bnb.nf4", Quantization::nf4, false},
    {"bnb.nf4-dq", Quantization::nf4, true},
    {"bnb.fp4", Quantization::fp4, false},
    {"bnb.fp4-dq", Quantization::fp4, true},
});

void plan_quantization(const Arguments& args, const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 5> words{"bnb.nf4", "bnb.nf4-dq", "bnb.fp4", "bnb.fp4-dq",
                                                  "bnb.int8-training"};
  const auto word = args.get<std::string>("quantize");
  if (!word.value) return;
  QuantizationFacts& quantization = draft.plan.quantization;
  const auto* found = std::ranges::find(bits, *word.value, &Bits::word);
  if (found != bits.end()) {
    quantization.kind = {found->kind, word.origin};
    quantization.double_quantization = {found->doubly, word.origin};
  } else if (*word.value != "bnb.int8-training") {
    const auto input = std::ranges::find(inputs, "quantize", &Input::key);
    if (input != inputs.end()) draft.errors.push_back(bad_value(*input, "one of bnb.nf4, bnb.nf4-dq, …", words));
  }
  const WeightsDType weights = draft.plan.precision.weights_dtype.value;
  const Origin& origin = draft.plan.precision.weights_dtype.origin;
  if (weights != WeightsDType::bf16)
    gap(draft, "4-bit weights beside another precision than bf16-true", "precision", origin);
}

// ---- The batch and the step ----------------------------------------------------------------------------------------

void plan_length(const Arguments& args, const Inputs& inputs, Draft& draft, const Document& document) {
  const auto limit = args.get<std::int64_t>("train.max_seq_length");
  if (limit.value && *limit.value > 0) {
    draft.plan.batch.sequence_length = {*limit.value, limit.origin};
    return;
  }
  const char* whose = pretrained(inputs) == nullptr ? "the data" : "the model takes";
  miss(draft, document, "sequence_length", {"train.max_seq_length"},
       std::string("train.max_seq_length is not given, so rows are as long as ") + whose,
       "give train.max_seq_length, or the longest row's tokens: --set sequence_length=…");
}

const Input* devices_of(const Inputs& inputs) {
  const auto found = std::ranges::find(inputs, "devices", &Input::key);
  return found == inputs.end() ? nullptr : &*found;
}

/// litgpt/utils.py: parse_devices. `devices` is the world, unless it is as many GPUs as there are.
void plan_world(const Inputs& inputs, Draft& draft) {
  const Input* devices = devices_of(inputs);
  if (devices == nullptr) return;
  const std::optional<std::int64_t> count = read_pydantic_positive(*devices->value);
  if (count && *count > 0) draft.plan.mesh.world_size = {*count, origin_of(*devices)};
}

bool takes_all_devices(const Inputs& inputs) {
  const Input* devices = devices_of(inputs);
  return devices != nullptr && (devices->value->text == "auto" || devices->value->as_integer() == -1);
}

template <class T>
void give_unless_set(Setting<T>& to, T value, const Origin& origin) {
  if (to.origin.kind != Origin::Kind::command_line) to = {std::move(value), origin};
}

/// finetune/full.py: setup, by Lightning's FSDPStrategy and FSDPPrecision.
void plan_ranks(Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  MeshFacts& mesh = plan.mesh;
  const Origin origin = mesh.world_size.origin;
  if (mesh.world_size.value < 2) return;
  if (plan.quantization.kind.value != Quantization::none)
    return conflict(draft, plan.quantization.kind.origin, document, "litgpt quantizes on one GPU alone");
  const bool as_said = mesh.sharding.origin.kind == Origin::Kind::command_line;
  if (plan.adapter.kind.value != Adapter::none && !as_said)
    return gap(draft, "litgpt's adapters on several GPUs", "devices", origin);
  Origin by = origin;
  derive(by, "with which litgpt takes Lightning's FSDPStrategy");
  give_unless_set(mesh.sharding, Sharding::fsdp1, by);
  give_unless_set(mesh.fsdp_orig_params, true, stack().origin("litgpt", "Lightning's FSDPStrategy"));
  give_unless_set(plan.checkpointing.on, true, by);
  const bool full =
      plan.precision.weights_dtype.value == WeightsDType::fp32 && plan.precision.autocast.value == Autocast::none;
  const bool half = plan.precision.weights_dtype.value == WeightsDType::fp16;
  const MixedDType dtype = full ? MixedDType::fp32 : half ? MixedDType::fp16 : MixedDType::bf16;
  const Origin precision = stack().origin("litgpt", "Lightning's FSDPPrecision");
  give_unless_set(mesh.fsdp_param_dtype, dtype, precision);
  give_unless_set(mesh.fsdp_reduce_dtype, dtype, precision);
}

// TrainArgs.gradient_accumulation_iters
void plan_accumulation(const Arguments& args, Draft& draft, const Document& document) {
  constexpr std::int64_t usual = 16;
  const auto all = args.get<std::int64_t>("train.global_batch_size");
  const Setting<std::int64_t>& rows = draft.plan.batch.micro_batch_size;
  const std::int64_t ranks = std::max<std::int64_t>(draft.plan.mesh.world_size.value, 1);
  const std::int64_t steps = all.value.value_or(usual) / ranks / rows.value;
  if (steps < 1) {
    return conflict(draft, all.value ? all.origin : rows.origin, document,
                    ranks > 1 ? "litgpt stops at a train.global_batch_size of less than train.micro_batch_size on each "
                                "of its devices"
                              : "litgpt stops at a train.global_batch_size of less than train.micro_batch_size");
  }
  Setting<std::int64_t>& planned = draft.plan.batch.gradient_accumulation_steps;
  if (planned.origin.kind == Origin::Kind::command_line) return;
  planned.value = steps;
  if (all.value || rows.origin.kind == Origin::Kind::config) planned.origin = all.value ? all.origin : rows.origin;
  if (planned.origin.kind == Origin::Kind::config) {
    derive(planned.origin, ranks > 1 ? "train.global_batch_size over devices and train.micro_batch_size"
                                     : "train.global_batch_size over train.micro_batch_size");
  }
}

/// A class by its path, and the word that a plan has for it.
struct Optimizer {
  std::string_view path{};
  std::string_view word{};
};

constexpr auto optimizers = std::to_array<Optimizer>({
    {"torch.optim.AdamW", "adamw_foreach"},
    {"bitsandbytes.optim.AdamW8bit", "adamw_8bit"},
    {"bitsandbytes.optim.PagedAdamW8bit", "paged_adamw_8bit"},
    {"bitsandbytes.optim.PagedAdamW", "paged_adamw_32bit"},
    {"bitsandbytes.optim.PagedAdamW32bit", "paged_adamw_32bit"},
});

/// torch.optim.AdamW's fused and foreach.
std::string way_of(const Arguments& args, std::string_view word) {
  if (word != "adamw_foreach") return std::string(word);
  if (args.on("optimizer.init_args.fused")) return "adamw_fused";
  return args.get<bool>("optimizer.init_args.foreach").value == false ? "adamw_for_each" : std::string(word);
}

void plan_optimizer(const Arguments& args, Draft& draft) {
  const auto path = args.get<std::string>("optimizer.class_path");
  if (draft.plan.quantization.kind.value != Quantization::none) {
    Setting<std::string>& name = draft.plan.optimizer.name;
    name = {"paged_adamw_32bit", draft.plan.quantization.kind.origin};
    return derive(name.origin, "beside which litgpt takes bitsandbytes' PagedAdamW");
  }
  if (!path.value) return;
  const std::string full = path.value->find('.') == std::string::npos ? "torch.optim." + *path.value : *path.value;
  const auto* found = std::ranges::find(optimizers, full, &Optimizer::path);
  if (found == optimizers.end()) return gap(draft, "optimizer " + *path.value, "optimizer.class_path", path.origin);
  draft.plan.optimizer.name = {way_of(args, found->word), path.origin};
}

// ---- All of it -----------------------------------------------------------------------------------------------------

/// `optimizer: AdamW` and `data: Alpaca` are their class_path alone.
Inputs with_paths(Inputs inputs) {
  for (Input& input : inputs) {
    const bool names_class = input.key == "optimizer" || input.key == "data";
    if (names_class && input.value->kind == Node::Kind::string) input.key += ".class_path";
  }
  return inputs;
}

void warn_of_script(const Inputs& inputs, Draft& draft, const Document& document) {
  if (draft.plan.adapter.kind.value != Adapter::none || pretrained(inputs) != nullptr) return;
  draft.plan.warnings.push_back({Severity::warning,
                                 "ingest/assumed-trainer",
                                 "read as a config of litgpt finetune_full; no key says which script it is for",
                                 {document.file, 0, 0},
                                 "litgpt finetune_lora has keys that begin with lora_; add one for that",
                                 {}});
}

Draft read(const Inputs& given, const Document& document) {
  Draft draft;
  const Inputs inputs = with_paths(given);
  const Arguments args = read_arguments("litgpt", {}, inputs, draft);
  begin(draft, stack(), args);
  TrainingPlan& plan = draft.plan;
  plan.framework = stack().name_of("litgpt");
  plan_supervised(plan);
  plan_model(args, inputs, draft, document);
  plan_adapter(args, inputs, draft, document);
  plan_precision(args, draft);
  plan_quantization(args, inputs, draft);
  plan_length(args, inputs, draft, document);
  plan_world(inputs, draft);
  plan_optimizer(args, draft);
  return draft;
}

void spread(const Inputs& given, const Document& document, Draft& draft) {
  const Inputs inputs = with_paths(given);
  if (takes_all_devices(inputs) && !draft.plan.mesh.world_size.origin.is_said()) {
    miss(draft, document, "world_size", {"devices"}, "devices is auto, which is as many GPUs as the machine has",
         "say how many: --gpu 8xh100-80gb, or devices: 8");
  } else {
    Draft aside;
    plan_ranks(draft, document);
    plan_accumulation(read_arguments("litgpt", {}, inputs, aside), draft, document);
  }
  if (draft.errors.empty() && draft.missing.empty()) warn_of_script(inputs, draft, document);
}

// ---- Back to the config --------------------------------------------------------------------------------------------

Said optimizer_path(const TrainingPlan& plan) {
  const std::string& name = plan.optimizer.name.value;
  if (name.starts_with("adamw_fo") || name == "adamw_fused") return "torch.optim.AdamW";
  const auto* found = std::ranges::find(optimizers, name, &Optimizer::word);
  return found == optimizers.end() || plan.quantization.kind.value != Quantization::none ? Said() : Said(found->path);
}

Said quantize_word(const TrainingPlan& plan) {
  const QuantizationFacts& q = plan.quantization;
  const auto is_it = [&](const Bits& b) { return b.kind == q.kind.value && b.doubly == q.double_quantization.value; };
  const auto* found = std::ranges::find_if(bits, is_it);
  return found == bits.end() || plan.adapter.kind.value == Adapter::none ? Said() : Said(found->word);
}

constexpr auto sayings = std::to_array<Saying>({
    {"optimizer", "optimizer.class_path", optimizer_path},
    {"optimizer", "optimizer.init_args.fused",
     [](const TrainingPlan& p) {
       return flag_where(p.optimizer.name.value.starts_with("adamw_f"), p.optimizer.name.value == "adamw_fused");
     }},
    {"quantization", "quantize", quantize_word},
    {"double_quantization", "quantize", quantize_word},
    {"sequence_length", "train.max_seq_length",
     [](const TrainingPlan& p) { return count_where(true, p.batch.sequence_length.value); }},
    {"gradient_accumulation_steps", "train.global_batch_size",
     [](const TrainingPlan& p) {
       const std::int64_t ranks = std::max<std::int64_t>(p.mesh.world_size.value, 1);
       const std::int64_t rows = p.batch.micro_batch_size.value * p.batch.gradient_accumulation_steps.value;
       return count_where(true, rows * ranks);
     }},
});

// Two of these tell its configs.
constexpr auto tells = std::to_array<std::string_view>({"checkpoint_dir", "train", "eval", "logger_name", "lora_query",
                                                        "lora_projection", "lora_mlp", "lora_head", "model_config",
                                                        "tokenizer_dir", "initial_checkpoint_dir"});

}  // namespace

namespace dialects {
extern const Dialect litgpt;
const Dialect litgpt{.name = "litgpt",
                     .about = "litgpt's fine-tuning",
                     .model_key = "checkpoint_dir",
                     .read = read,
                     .sayings = sayings,
                     .tells = tells,
                     .spread = spread};
}  // namespace dialects

}  // namespace oomplan::ingestion
