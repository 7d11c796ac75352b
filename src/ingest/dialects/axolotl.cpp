// Axolotl 0.18.0. It pins transformers 5.14.1, peft 0.19.1 and accelerate 1.13.0; where its own code takes a default of
// theirs, that default is the same in the versions that the other dialects name.
#include <algorithm>
#include <array>

#include "../dialect.hpp"
#include "../optimizers.hpp"
#include "axolotl/evaluation.hpp"
#include "axolotl/keys.hpp"

namespace oomplan::ingestion {
namespace {

using axolotl::Axolotl;
using axolotl::Bf16;
using axolotl::table;

constexpr std::string_view schema = "axolotl 0.18.0: AxolotlInputConfig";
constexpr std::string_view normalize = "axolotl 0.18.0: normalize_config";
constexpr std::string_view loader = "axolotl 0.18.0: ModelLoader";
constexpr std::string_view trainer = "transformers 5.14.1: Trainer";
constexpr std::string_view trainer_loss = "transformers 5.14.1: Trainer.compute_loss";
constexpr std::string_view from_pretrained = "transformers 5.14.1: PreTrainedModel.from_pretrained";

bool on(const Arg<bool>& arg) { return arg.value.value_or(false); }

bool asks_for(const Draft& draft, std::string_view key) {
  return std::ranges::count(draft.plan.unmodelled, key, &Unmodelled::key) > 0;
}

void cannot(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

// ---- Precision: resolve_dtype (utils/config/__init__.py) and the builder's TrainingArguments ----------------------

struct Precision {
  WeightsDType weights = WeightsDType::fp32;
  Autocast autocast = Autocast::none;
  Origin origin{};
};

Precision precision_of(const Axolotl& a) {
  const bool automatic = a.bf16.value.value_or(Bf16::automatic) == Bf16::automatic;
  const Origin bf16 = a.bf16.value ? a.bf16.origin : default_of("axolotl 0.18.0: bf16: auto, on a GPU that has it");
  if (is(a.bf16, Bf16::on) || (automatic && !on(a.fp16))) return {WeightsDType::bf16, Autocast::bf16, bf16};
  if (on(a.bfloat16)) return {WeightsDType::bf16, Autocast::bf16, a.bfloat16.origin};
  if (on(a.fp16)) return {WeightsDType::fp16, Autocast::fp16, a.fp16.origin};
  if (on(a.float16)) return {WeightsDType::fp16, Autocast::none, a.float16.origin};
  return {WeightsDType::fp32, Autocast::none, bf16};
}

void plan_precision(const Axolotl& a, TrainingPlan& plan) {
  const Precision precision = precision_of(a);
  plan.precision.weights_dtype = {precision.weights, precision.origin};
  plan.precision.autocast = {precision.autocast, precision.origin};
  plan.precision.outputs_to_fp32 = {precision.autocast != Autocast::none,
                                    default_of("accelerate 1.13.0: prepare_model")};
  // The loader raises norms, embeddings and head to fp32, and takes that back for adapters and flash attention.
  const bool stays = !a.adapter.value && plan.kernels.attention.value != Attention::flash_attention_2;
  plan.precision.fp32_norms = {stays && precision.weights != WeightsDType::fp32, default_of(loader)};
}

// ---- Attention -----------------------------------------------------------------------------------------------------

void plan_attention(const Axolotl& a, TrainingPlan& plan) {
  plan.kernels.attention = {Attention::sdpa, default_of(from_pretrained)};
  if (on(a.eager_attention)) plan.kernels.attention = {Attention::eager, a.eager_attention.origin};
  if (on(a.sdp_attention)) plan.kernels.attention = {Attention::sdpa, a.sdp_attention.origin};
  if (on(a.flash_attention)) plan.kernels.attention = {Attention::flash_attention_2, a.flash_attention.origin};
  if (a.attn_implementation.value)
    plan.kernels.attention = {*a.attn_implementation.value, a.attn_implementation.origin};
}

// ---- The batch -----------------------------------------------------------------------------------------------------

// Rows are padded up to a multiple, of 64 unless said otherwise; an exact pad_to_sequence_len: false rounds nothing.
std::int64_t multiple_of(const Axolotl& a) {
  if (is(a.pad_to_sequence_len, false) && !on(a.sample_packing)) return 1;
  return a.pad_to_multiple_of.value.value_or(64);
}

void plan_length(const Axolotl& a, TrainingPlan& plan) {
  plan.batch.sequence_length = setting(a.sequence_len, std::int64_t{512}, schema);
  pad_rows(plan, multiple_of(a));
}

void plan_sizes(const Axolotl& a, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  plan.batch.micro_batch_size = setting(a.micro_batch_size, std::int64_t{1}, schema);
  plan.batch.gradient_accumulation_steps = setting(a.gradient_accumulation_steps, std::int64_t{1}, schema);
  if (plan.batch.gradient_accumulation_steps.value == 0) {
    const std::int64_t steps = a.batch_size.value.value_or(1) / plan.batch.micro_batch_size.value;
    plan.batch.gradient_accumulation_steps = {std::max(steps, std::int64_t{1}), a.batch_size.origin};
    derive(plan.batch.gradient_accumulation_steps.origin,
           "divided by a micro_batch_size of " + std::to_string(plan.batch.micro_batch_size.value));
  }
  accumulate(a.accumulation, draft, document);
  plan_length(a, plan);
}

// Whether packed rows reach the attention without any mask: by flash attention, or by sdpa's varlen kernel, which the
// patch manager takes where sdpa was asked for by name.
bool packs_without_mask(const Axolotl& a, const TrainingPlan& plan) {
  const bool named = a.attn_implementation.value || on(a.sdp_attention);
  const bool varlen = named && plan.kernels.attention.value == Attention::sdpa && !is(a.sdpa_varlen, false);
  return plan.kernels.attention.value == Attention::flash_attention_2 || varlen;
}

void plan_rows(const Axolotl& a, TrainingPlan& plan) {
  plan.batch.padding_mask = {true, assumed("some row is shorter than sequence_len and is padded")};
  if (!on(a.sample_packing)) return;
  const bool bare = packs_without_mask(a, plan);
  plan.batch.padding_mask = {!bare, a.sample_packing.origin};
  derive(plan.batch.padding_mask.origin, bare ? "whose rows need no mask" : "whose rows are told apart by a mask");
  const bool flash = plan.kernels.attention.value == Attention::flash_attention_2;
  if (!a.multipack_real_batches.value.value_or(!flash)) pack_rows(plan, a.sample_packing.origin, "micro_batch_size");
}

void check_sizes(const Axolotl& a, Draft& draft, const Document& document) {
  const bool steps = a.gradient_accumulation_steps.value.value_or(0) > 0;
  const int given = (a.micro_batch_size.value ? 1 : 0) + (steps ? 1 : 0) + (a.batch_size.value ? 1 : 0);
  const std::string three = "micro_batch_size, gradient_accumulation_steps and batch_size";
  if (given < 2) {
    miss(draft, document, "micro_batch_size", {"micro_batch_size", "gradient_accumulation_steps", "batch_size"},
         "axolotl wants two of " + three, "add micro_batch_size and another");
  }
  if (steps && a.batch_size.value) {
    conflict(draft, a.batch_size.origin, document, "axolotl refuses batch_size beside gradient_accumulation_steps");
  }
}

// ---- The adapter ---------------------------------------------------------------------------------------------------

// lora_target_linear means every linear module but the head, whatever is listed besides.
void plan_targets(const Axolotl& a, Draft& draft, const Document& document) {
  auto& targets = draft.plan.adapter.targets;
  targets = setting(a.lora_target_modules, {}, "");
  constexpr std::array<std::string_view, 3> beyond{"lm_head", "embed_tokens", "embed_out"};
  if (on(a.lora_target_linear)) {
    for (const std::string& name : targets.value) {
      if (std::ranges::count(beyond, name) > 0) cannot(draft, "LoRA on " + name, "lora_target_modules", targets.origin);
    }
    targets = {{"all-linear"}, a.lora_target_linear.origin};
  } else if (targets.value.empty() && a.adapter.value) {
    miss(draft, document, "lora_targets", {"lora_target_linear", "lora_target_modules"},
         "neither lora_target_linear nor lora_target_modules is given",
         "add lora_target_linear: true or --set lora_target_modules=[…]");
  }
}

// Without a word about any of the four, axolotl switches them on (check_auto_enable_lora_kernels).
bool kernels_by_default(const Axolotl& a, const Draft& draft) {
  const bool said =
      a.lora_mlp_kernel.value || a.lora_qkv_kernel.value || a.lora_o_kernel.value || a.lora_embedding_kernel.value;
  return !said && !on(a.trust_remote_code) && !asks_for(draft, "rl") && !asks_for(draft, "nvfp4_merge_aware") &&
         !(is(a.adapter, std::string("lora")) && asks_for(draft, "load_in_8bit"));
}

// A kernel takes over where every module of its group carries an adapter.
template <std::size_t N>
bool covers(const std::vector<std::string>& targets, const std::array<std::string_view, N>& group) {
  if (std::ranges::count(targets, "all-linear") > 0) return true;
  return std::ranges::all_of(group, [&](std::string_view name) { return std::ranges::count(targets, name) > 0; });
}

template <std::size_t N>
Setting<bool> kernel(const Arg<bool>& arg, bool by_default, const TrainingPlan& plan,
                     const std::array<std::string_view, N>& group) {
  Setting<bool> out = setting(arg, by_default, "axolotl 0.18.0: check_auto_enable_lora_kernels");
  const bool covered = covers(plan.adapter.targets.value, group);
  if (out.value && !covered) derive(out.origin, "but not every module that it joins carries LoRA");
  out.value = out.value && plan.adapter.kind.value == Adapter::lora && covered;
  return out;
}

void plan_kernels(const Axolotl& a, const Draft& draft, TrainingPlan& plan) {
  constexpr std::array<std::string_view, 3> qkv{"q_proj", "k_proj", "v_proj"};
  constexpr std::array<std::string_view, 1> o{"o_proj"};
  constexpr std::array<std::string_view, 3> mlp{"gate_proj", "up_proj", "down_proj"};
  const bool automatic = kernels_by_default(a, draft);
  plan.kernels.lora_qkv = kernel(a.lora_qkv_kernel, automatic, plan, qkv);
  plan.kernels.lora_o = kernel(a.lora_o_kernel, automatic, plan, o);
  plan.kernels.lora_mlp = kernel(a.lora_mlp_kernel, automatic, plan, mlp);
}

DType torch_dtype(WeightsDType dtype) {
  return dtype == WeightsDType::bf16 ? DType::bf16 : dtype == WeightsDType::fp16 ? DType::fp16 : DType::fp32;
}

void plan_quantization(const Axolotl& a, TrainingPlan& plan) {
  const bool qlora = is(a.adapter, std::string("qlora"));
  const auto kind = setting(a.quant_type, Quantization::nf4, loader);
  const bool named = qlora && a.quant_type.value;
  plan.quantization.kind = {qlora ? kind.value : Quantization::none, named             ? kind.origin
                                                                     : a.adapter.value ? a.adapter.origin
                                                                                       : default_of(schema)};
  plan.quantization.double_quantization = setting(a.double_quant, true, loader);
  plan.quantization.compute_dtype = setting(a.compute_dtype, torch_dtype(plan.precision.weights_dtype.value), loader);
  plan.quantization.linear = {QuantizedLinear::bitsandbytes, default_of(loader)};
  plan.quantization.kbit_upcast = {false,
                                   default_of("axolotl 0.18.0: ModelLoader casts norms, embeddings and head back")};
  plan.precision.fp32_while_loading = {
      plan.precision.weights_dtype.value != WeightsDType::fp32 && !plan.precision.fp32_norms.value,
      default_of("axolotl 0.18.0: ModelLoader._configure_embedding_dtypes")};
  if (qlora && on(a.embeddings_skip_upcast))
    plan.precision.fp32_while_loading = {false, a.embeddings_skip_upcast.origin};
}

void plan_adapter(const Axolotl& a, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  const bool lora = a.adapter.value.has_value();
  plan.adapter.kind = {lora ? Adapter::lora : Adapter::none, lora ? a.adapter.origin : default_of(schema)};
  plan.adapter.rank = setting(a.lora_r, std::int64_t{8}, "peft 0.19.1: LoraConfig");
  if (lora && !a.lora_r.value) miss(draft, document, "lora_rank", {"lora_r"}, "lora_r is not given", "add lora_r: …");
  plan.adapter.dropout = setting(a.lora_dropout, 0.0, schema);
  const bool fp32 = a.peft_autocast_adapter_dtype.value.value_or(true);
  plan.adapter.dtype = setting(Arg<AdapterDType>{}, fp32 ? AdapterDType::fp32 : AdapterDType::as_base,
                               "peft 0.19.1: get_peft_model(autocast_adapter_dtype=True)");
  if (a.peft_autocast_adapter_dtype.value) plan.adapter.dtype.origin = a.peft_autocast_adapter_dtype.origin;
  plan_targets(a, draft, document);
  plan_kernels(a, draft, plan);
}

void check_adapter(const Axolotl& a, Draft& draft, const Document& document) {
  const bool qlora = is(a.adapter, std::string("qlora"));
  if (qlora && !on(a.load_in_4bit)) {
    conflict(draft, a.adapter.origin, document, "adapter: qlora needs load_in_4bit: true");
  }
  if (!on(a.load_in_4bit) || qlora) return;
  if (!a.adapter.value) {
    conflict(draft, a.load_in_4bit.origin, document, "load_in_4bit needs adapter: qlora");
  } else {
    cannot(draft, "adapter: lora with load_in_4bit, which quantizes nothing and raises the base to fp32",
           "load_in_4bit", a.load_in_4bit.origin);
  }
}

// ---- The step ------------------------------------------------------------------------------------------------------

void plan_optimizer(const Axolotl& a, Draft& draft) {
  const auto optimizer = setting(a.optimizer, std::string("adamw_torch_fused"), schema);
  const OptimizerName* name = find_optimizer(optimizer.value);
  const bool played = name != nullptr && !name->plan.empty();
  draft.plan.optimizer.name = {played ? std::string(name->plan) : optimizer.value, optimizer.origin};
  if (!played) cannot(draft, "optimizer " + optimizer.value, "optimizer", optimizer.origin);
  const auto norm = setting(a.max_grad_norm, 1.0, trainer);
  draft.plan.optimizer.clip_gradients = {norm.value > 0, norm.origin};
}

// bitsandbytes keeps fp32 state of embeddings where transformers' Trainer makes the optimizer. With rates of their own
// axolotl makes it, and looks for a class Adam8bit, which the Trainer's name for it (AdamW) is not.
void plan_embedding_state(const Axolotl& a, TrainingPlan& plan) {
  plan.optimizer.fp32_embedding_state = {true, default_of("transformers 5.14.1: Trainer.create_optimizer")};
  const auto own = [&](const auto& arg) {
    if (arg.value) plan.optimizer.fp32_embedding_state = {false, arg.origin};
  };
  own(a.embedding_lr);
  own(a.embedding_lr_scale);
  if (on(a.lr_groups)) own(a.lr_groups);
  if (!plan.optimizer.fp32_embedding_state.value) {
    derive(plan.optimizer.fp32_embedding_state.origin,
           "for which axolotl 0.18.0 makes the optimizer itself, all of it 8-bit");
  }
}

void plan_step(const Axolotl& a, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  plan.checkpointing.on = setting(a.gradient_checkpointing, false, schema);
  const bool reentrant = !asks_for(draft, "rl") && !asks_for(draft, "unfrozen_parameters");
  plan.checkpointing.reentrant = setting(a.use_reentrant, reentrant, normalize);
  plan.recipe.loss = {Loss::full_logits, default_of(trainer_loss)};
  plan.recipe.outputs_kept = {false, default_of(trainer_loss)};
  plan_embedding_state(a, plan);
  plan.optimizer.set_grads_to_none = {true, default_of("torch 2.12.1: Module.zero_grad")};
  plan.recipe.use_cache = {false, default_of("axolotl 0.18.0: check_model_config")};
  plan.batch.lengths = {{}, assumed("every step's rows are as long as the longest")};
  plan.runtime.alloc_conf = {"expandable_segments:True", default_of("axolotl 0.18.0: set_pytorch_cuda_alloc_conf")};
}

// ---- The loader ----------------------------------------------------------------------------------------------------

// Where nothing is said of three keys, the schema sets all of them (default_dataloader_opts).
void default_loader(LoaderPlan& plan) {
  constexpr std::string_view source = "axolotl 0.18.0: default_dataloader_opts";
  plan.workers = {1, default_of(source)};
  derive(plan.workers.origin, "as many as GPUs, for each");
  plan.prefetch = {256, default_of(source)};
  plan.pin_memory = {true, default_of(source)};
}

void plan_loader(const Axolotl& a, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const LoaderKeys& keys = a.loader;
  plan.loader = loader_plan(keys, {"transformers 5.14.1: TrainingArguments", "axolotl 0.18.0: load_datasets",
                                   "axolotl 0.18.0: DataCollatorForSeq2Seq"});
  draft.worker_a_rank = !keys.workers.value && !keys.prefetch.value && !keys.pin_memory.value;
  if (draft.worker_a_rank) default_loader(plan.loader);
  plan.loader.map_a_core = {true, default_of("axolotl 0.18.0: dataset_num_proc or os.cpu_count()")};
  const bool streams = plan.loader.rows_as.value == RowsAs::stream;
  plan.loader.shuffle_buffer = streams ? setting(keys.shuffle_buffer, std::int64_t{10'000}, schema)
                                       : Setting<std::int64_t>{0, default_of("axolotl 0.18.0: nothing is streamed")};
  if (!on(a.sample_packing)) return;
  plan.loader.packed = {true, a.sample_packing.origin};
  plan.loader.columns = {4, a.sample_packing.origin};
  derive(plan.loader.columns.origin, "which adds position_ids");
}

// ---- Plugins -------------------------------------------------------------------------------------------------------

bool has_plugin(const Axolotl& a, std::string_view name) {
  if (!a.plugins.value) return false;
  return std::ranges::any_of(*a.plugins.value, [&](const std::string& plugin) { return plugin.ends_with(name); });
}

// Cut cross entropy's plugin needs no key.
void apply_plugins(const Axolotl& a, Draft& draft) {
  if (has_plugin(a, "CutCrossEntropyPlugin") && a.cut_cross_entropy.value.value_or(true)) {
    cannot(draft, "cut cross entropy", "plugins", a.plugins.origin);
  }
}

// ---- Which trainer -------------------------------------------------------------------------------------------------

// HFRLTrainerBuilder and the reward models' trainers take over where these keys ask for them (axolotl/train.py).
Setting<std::string> trainer_of(const Inputs& inputs) {
  constexpr std::array<std::array<std::string_view, 2>, 5> by_rl{
      {{"dpo", "dpo"}, {"ipo", "dpo"}, {"kto", "kto"}, {"orpo", "orpo"}, {"simpo", "cpo"}}};  // Others are GRPO's kin.
  for (const Input& input : inputs) {
    if (!is_set(*input.value)) continue;
    if (input.key == "reward_model") return {"reward", origin_of(input)};
    if (input.key == "process_reward_model") return {"prm", origin_of(input)};
    if (input.key != "rl") continue;
    const auto* found = std::ranges::find(by_rl, input.value->text, [](const auto& row) { return row[0]; });
    return {std::string(found == by_rl.end() ? "grpo" : (*found)[1]), origin_of(input)};
  }
  return {"trainer", default_of("axolotl 0.18.0: HFCausalTrainerBuilder, as rl is not given")};
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  Axolotl a;
  Findings findings;
  read_rows(table(), inputs, a, findings);
  take(draft, std::move(findings));
  TrainingPlan& plan = draft.plan;
  plan.framework = "axolotl 0.18.0 on transformers 5.14.1";
  plan.recipe.trainer = trainer_of(inputs);
  plan.model.name = setting(a.base_model_config.value ? a.base_model_config : a.base_model, std::string{}, "");
  if (plan.model.name.value.empty()) {
    miss(draft, document, "model", {"base_model"}, "base_model is not given",
         "add base_model: … or --set base_model=…");
  }
  plan_attention(a, plan);
  plan_precision(a, plan);
  plan_sizes(a, draft, document);
  const axolotl::Batch batch{plan.batch.micro_batch_size.value, plan.batch.sequence_length.value, multiple_of(a),
                             on(a.sample_packing)};
  plan_rows(a, plan);
  axolotl::plan_evaluation(inputs, batch, draft);
  plan_quantization(a, plan);
  plan_adapter(a, draft, document);
  plan_optimizer(a, draft);
  plan_step(a, draft);
  plan_loader(a, draft);
  apply_plugins(a, draft);
  check_sizes(a, draft, document);
  check_adapter(a, draft, document);
  refuse_scaled_half(draft, document);
  return draft;
}

// ---- Back to keys --------------------------------------------------------------------------------------------------

template <class T>
void give(Arg<T>& arg, T value) {
  arg.value = std::move(value);
}

void write_rows_of(const TrainingPlan& plan, Axolotl& a) {
  give(a.micro_batch_size, plan.batch.micro_batch_size.value);
  give(a.gradient_accumulation_steps, plan.batch.gradient_accumulation_steps.value);
  give(a.sequence_len, plan.batch.sequence_length.value);
  if (plan.batch.sequence_length.value % 64 != 0) give(a.pad_to_multiple_of, std::int64_t{1});
  give(a.sample_packing, !plan.batch.padding_mask.value);
  if (!plan.batch.padding_mask.value) give(a.multipack_real_batches, true);
}

void write_precision(const TrainingPlan& plan, Axolotl& a) {
  give(a.bf16, plan.precision.autocast.value == Autocast::bf16 ? Bf16::on : Bf16::off);
  give(a.fp16, plan.precision.autocast.value == Autocast::fp16);
  if (plan.precision.autocast.value == Autocast::none && plan.precision.weights_dtype.value == WeightsDType::fp16)
    give(a.float16, true);
}

void write_adapter(const TrainingPlan& plan, Axolotl& a) {
  if (plan.adapter.kind.value == Adapter::none) return;
  const bool qlora = plan.quantization.kind.value != Quantization::none;
  give(a.adapter, std::string(qlora ? "qlora" : "lora"));
  give(a.load_in_4bit, qlora);
  give(a.lora_r, plan.adapter.rank.value);
  give(a.lora_dropout, plan.adapter.dropout.value);
  const bool all = plan.adapter.targets.value == std::vector<std::string>{"all-linear"};
  if (all) {
    give(a.lora_target_linear, true);
  } else {
    give(a.lora_target_modules, plan.adapter.targets.value);
  }
  give(a.peft_autocast_adapter_dtype, plan.adapter.dtype.value == AdapterDType::fp32);
  give(a.lora_qkv_kernel, plan.kernels.lora_qkv.value);
  give(a.lora_o_kernel, plan.kernels.lora_o.value);
  give(a.lora_mlp_kernel, plan.kernels.lora_mlp.value);
}

void write_quantization(const TrainingPlan& plan, Axolotl& a) {
  if (plan.quantization.kind.value != Quantization::none) {
    give(a.quant_type, plan.quantization.kind.value);
    give(a.embeddings_skip_upcast, !plan.precision.fp32_while_loading.value);
  }
  give(a.double_quant, plan.quantization.double_quantization.value);
  give(a.compute_dtype, plan.quantization.compute_dtype.value);
}

void write_step(const TrainingPlan& plan, Axolotl& a) {
  give(a.optimizer, trainer_name(plan.optimizer.name.value));
  give(a.max_grad_norm, plan.optimizer.clip_gradients.value ? 1.0 : 0.0);
  give(a.gradient_checkpointing, plan.checkpointing.on.value);
  give(a.use_reentrant, plan.checkpointing.reentrant.value);
  give(a.attn_implementation, plan.kernels.attention.value);
}

std::string write(const TrainingPlan& plan) {
  Axolotl a;
  give(a.base_model, plan.model.name.value);
  write_rows_of(plan, a);
  write_precision(plan, a);
  write_adapter(plan, a);
  write_quantization(plan, a);
  write_step(plan, a);
  write_loader(plan.loader, a.loader);
  // A stream has no length of its own, and Axolotl wants one said.
  const std::string_view steps = plan.loader.rows_as.value == RowsAs::stream ? "max_steps: 1000\n" : "";
  return write_rows(table(), a) + std::string(steps) + axolotl::write_evaluation(plan);
}

}  // namespace

namespace dialects {
extern const Dialect axolotl;
const Dialect axolotl{"axolotl", "Axolotl's YAML", "base_model", [] { return keys_of(table()); }, read, write};
}  // namespace dialects

}  // namespace oomplan::ingestion
