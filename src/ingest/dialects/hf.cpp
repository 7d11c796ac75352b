// Hugging Face: transformers' TrainingArguments, TRL's SFTConfig, ModelConfig and ScriptArguments, and the keys of
// transformers' example scripts, as YAML or JSON.
#include <algorithm>
#include <array>

#include "../condition.hpp"
#include "../dialect.hpp"
#include "../optimizers.hpp"
#include "../python_values.hpp"
#include "hf/evaluation.hpp"
#include "hf/keys.hpp"
#include "hf/refused.hpp"
#include "hf/trainer.hpp"

namespace oomplan::ingestion {
namespace {

using hf::Hf;
using hf::table;

constexpr std::string_view training_arguments = "transformers 5.23.0: TrainingArguments";
constexpr std::string_view from_pretrained = "transformers 5.23.0: PreTrainedModel.from_pretrained";
constexpr std::string_view base_config = "trl 1.16.0: _BaseConfig";
constexpr std::string_view sft_config = "trl 1.16.0: SFTConfig";
constexpr std::string_view model_config = "trl 1.16.0: ModelConfig";
constexpr std::string_view datasets = "datasets 5.2.0: Dataset, memory-mapped Arrow";
constexpr std::string_view collator = "transformers 5.23.0: input_ids, attention_mask and labels";
constexpr std::string_view sft_collator = "trl 1.16.0: DataCollatorForLanguageModeling";
constexpr std::string_view sft_trainer = "trl 1.16.0: SFTTrainer";

// ---- The plan ------------------------------------------------------------------------------------------------------

void plan_precision(const Hf& hf, bool sft, TrainingPlan& plan) {
  const bool fp16 = is(hf.fp16, true);
  const bool bf16 = hf.bf16.value.value_or(sft && !fp16);
  plan.precision.autocast.value = fp16 ? Autocast::fp16 : bf16 ? Autocast::bf16 : Autocast::none;
  plan.precision.autocast.origin = fp16            ? hf.fp16.origin
                                   : hf.bf16.value ? hf.bf16.origin
                                                   : default_of(sft ? base_config : training_arguments);
  const auto& dtype = hf.model_init_dtype.value ? hf.model_init_dtype : hf.dtype;
  plan.precision.weights_dtype = sft ? setting(dtype, WeightsDType::fp32, model_config)
                                     : setting(dtype, WeightsDType::checkpoint, from_pretrained);
  plan.precision.outputs_to_fp32 = {plan.precision.autocast.value != Autocast::none,
                                    default_of("accelerate 1.15.0: prepare_model")};
}

// The rows of a batch, and how long they get. Packed rows of one batch are one row, with a mask that keeps them apart
// where the attention is not flash attention.
void plan_batch(const Hf& hf, bool sft, TrainingPlan& plan) {
  plan.batch.micro_batch_size = setting(hf.per_device_train_batch_size, std::int64_t{8}, training_arguments);
  plan.batch.gradient_accumulation_steps = setting(hf.gradient_accumulation_steps, std::int64_t{1}, training_arguments);
  const auto& scripts = hf.block_size.value       ? hf.block_size
                        : hf.max_seq_length.value ? hf.max_seq_length
                                                  : hf.model_max_length;
  const auto& trl = hf.max_length.value ? hf.max_length : hf.max_seq_length;
  plan.batch.sequence_length =
      sft ? setting(trl, std::int64_t{1024}, sft_config) : setting(scripts, std::int64_t{0}, "");
  pad_rows(plan, hf.pad_to_multiple_of.value.value_or(1));
}

bool is_wrapped(const Hf& hf) { return is(hf.packing_strategy, std::string("wrapped")); }

bool is_joined(const Hf& hf, bool sft) {
  return sft && (is(hf.padding_free, true) || (is(hf.packing, true) && !is_wrapped(hf)));
}

bool is_fixed(const Hf& hf, bool sft) {
  return (sft && is(hf.packing, true) && is_wrapped(hf)) || (!sft && hf.block_size.value);
}

void plan_padding(const Hf& hf, bool sft, TrainingPlan& plan) {
  const bool fixed = is_fixed(hf, sft);
  if (is_joined(hf, sft)) {
    pack_rows(plan, is(hf.packing, true) ? hf.packing.origin : hf.padding_free.origin, "per_device_train_batch_size");
    plan.batch.padding_mask = {plan.kernels.attention.value != Attention::flash_attention_2,
                               default_of("trl 1.16.0: DataCollatorForLanguageModeling(padding_free=True)")};
  } else if (fixed) {
    plan.batch.padding_mask = {false, sft ? hf.packing.origin : hf.block_size.origin};
    derive(plan.batch.padding_mask.origin, "whose rows need no mask");
  } else {
    const bool padded = plan.batch.micro_batch_size.value > 1 || is(hf.pad_to_max_length, true) ||
                        hf.model_max_length.value.has_value();
    plan.batch.padding_mask = {padded, assumed(padded ? "rows of a batch differ in length and are padded"
                                                      : "a batch of one row needs no padding")};
  }
}

// transformers says use_reentrant: false only where nothing is left of the kwargs once its own keys (and TRL's) are
// taken out; torch takes true for what nobody says. The old name's kwargs count where the new one's are not there.
Setting<bool> reentrant(const Hf& hf, const Inputs& inputs) {
  constexpr std::array<std::string_view, 3> taken_out{"every_n_layers", "offload", "selective"};
  const Node* kwargs = find_value(inputs, "activation_checkpointing_kwargs");
  const bool old = !hf.use_reentrant.value && (kwargs == nullptr || kwargs->kind == Node::Kind::null);
  if (old) kwargs = find_value(inputs, "gradient_checkpointing_kwargs");
  const Arg<bool>& said = old ? hf.old_use_reentrant : hf.use_reentrant;
  const bool open = kwargs != nullptr && std::ranges::any_of(kwargs->entries, [&](const Entry& entry) {
                      return std::ranges::count(taken_out, entry.key) == 0;
                    });
  if (open) return setting(said, true, "torch 2.13.0: checkpoint, whose kwargs are given without use_reentrant");
  return setting(said, false, "transformers 5.23.0: activation_checkpointing_enable");
}

void plan_step(const Hf& hf, bool sft, const Inputs& inputs, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const auto& checkpointing =
      hf.activation_checkpointing.value ? hf.activation_checkpointing : hf.gradient_checkpointing;
  plan.checkpointing.on = setting(checkpointing, sft, sft ? base_config : training_arguments);
  plan.checkpointing.reentrant = reentrant(hf, inputs);
  const auto optim = setting(hf.optim, std::string("adamw_torch_fused"), training_arguments);
  const OptimizerName& name = *find_optimizer(optim.value);
  plan.optimizer.name = {std::string(name.plan.empty() ? name.theirs : name.plan), optim.origin};
  if (name.plan.empty()) draft.plan.unmodelled.push_back({"optimizer " + optim.value, "optim", optim.origin.where});
  if (name.plan == "sgd" && has_momentum(hf.optim_args.value.value_or(""))) {
    plan.optimizer.name = {"sgd_momentum", hf.optim_args.origin};
  }
  const auto norm = setting(hf.max_grad_norm, 1.0, training_arguments);
  plan.optimizer.clip_gradients = {norm.value > 0, norm.origin};
  plan.optimizer.fp32_embedding_state = {true, default_of("transformers 5.23.0: Trainer.create_optimizer")};
  plan.optimizer.set_grads_to_none = {true, default_of("torch 2.13.0: Module.zero_grad")};
}

void plan_forward(const Hf& hf, bool sft, TrainingPlan& plan) {
  const auto& attention = hf.model_init_attention.value ? hf.model_init_attention : hf.attn_implementation;
  plan.kernels.attention = setting(attention, Attention::sdpa, from_pretrained);
  plan.recipe.loss = sft ? Setting<Loss>{Loss::chunked_logprob, default_of("trl 1.16.0: add_fused_lm_head")}
                         : Setting<Loss>{Loss::full_logits, default_of("transformers 5.23.0: ForCausalLMLoss")};
  plan.recipe.outputs_kept = {
      false, default_of(sft ? "trl 1.16.0: SFTTrainer.compute_loss" : "transformers 5.23.0: Trainer.compute_loss")};
  plan.recipe.use_cache = sft ? Setting<bool>{false, default_of("trl 1.16.0: SFTTrainer.compute_loss")}
                              : setting(hf.use_cache, false, training_arguments);
  plan.batch.lengths = {{}, assumed("every step's rows are as long as the longest")};
  plan.runtime.alloc_conf = setting(hf.alloc_conf, std::string(), "torch 2.13.0: AcceleratorAllocatorConfig");
}

DType compute_dtype(WeightsDType dtype) {
  return dtype == WeightsDType::bf16 ? DType::bf16 : dtype == WeightsDType::fp16 ? DType::fp16 : DType::fp32;
}

// What a script around a plain Trainer makes of TRL's keys for adapters is its own affair; of what TRL's scripts would
// do, only the user knows whether it does the same.
void check_own_script(const Hf& hf, Draft& draft, const Document& document) {
  if (!is(hf.use_peft, true)) return;
  const std::string whose = "a script around a plain Trainer, and no library's, ";
  if (!hf.lora_r.value) {
    miss(draft, document, "lora_rank", {"lora_r"}, whose + "sets LoRA's rank, and lora_r is not given",
         "add lora_r: … or --set plan.lora_rank=…");
  }
  if (!is(hf.load_in_4bit, true)) return;
  miss(draft, document, "kbit_upcast", {},
       whose + "decides whether prepare_model_for_kbit_training raises 4-bit models' other weights to fp32",
       "--set plan.kbit_upcast=true or --set plan.kbit_upcast=false");
}

void plan_adapter(const Hf& hf, TrainingPlan& plan) {
  const auto peft = setting(hf.use_peft, false, model_config);
  plan.adapter.kind = {peft.value ? Adapter::lora : Adapter::none, peft.origin};
  plan.adapter.rank = setting(hf.lora_r, std::int64_t{16}, model_config);
  plan.adapter.dropout = setting(hf.lora_dropout, 0.05, model_config);
  plan.adapter.targets = setting(hf.lora_target_modules, {"peft-default"}, "peft 0.21.2: target modules by model_type");
  const auto four = setting(hf.load_in_4bit, false, model_config);
  const auto kind = setting(hf.bnb_4bit_quant_type, Quantization::nf4, model_config);
  const bool named = four.value && hf.bnb_4bit_quant_type.value;
  plan.quantization.kind = {four.value ? kind.value : Quantization::none, named ? kind.origin : four.origin};
  plan.adapter.dtype =
      four.value && plan.recipe.trainer.value != "trainer"
          ? Setting<AdapterDType>{AdapterDType::bf16, default_of(sft_trainer)}
          : Setting<AdapterDType>{AdapterDType::fp32,
                                  default_of("peft 0.21.2: get_peft_model(autocast_adapter_dtype=True)")};
  plan.quantization.double_quantization = setting(hf.use_bnb_nested_quant, false, model_config);
  const auto dtype = setting(hf.dtype, WeightsDType::fp32, model_config);
  plan.quantization.compute_dtype = {compute_dtype(dtype.value), dtype.origin};
  for (auto kernel : {&KernelFacts::lora_qkv, &KernelFacts::lora_o, &KernelFacts::lora_mlp}) {
    plan.kernels.*kernel = {false, default_of("peft 0.21.2: LoraLayer.forward")};
  }
  plan.quantization.linear = {QuantizedLinear::bitsandbytes, default_of(model_config)};
  plan.precision.fp32_norms = {false, default_of(from_pretrained)};
  plan.precision.fp32_while_loading = {false, default_of(from_pretrained)};
  plan.quantization.kbit_upcast = {false, default_of(sft_trainer)};
}

// ---- What is wrong or old ------------------------------------------------------------------------------------------

void check_facts(bool sft, Draft& draft, const Document& document) {
  const TrainingPlan& plan = draft.plan;
  if (plan.model.name.value.empty()) {
    miss(draft, document, "model", {"model_name_or_path"}, "model_name_or_path is not given",
         "add model_name_or_path: … or --set plan.model=…");
  }
  if (plan.batch.sequence_length.value > 0) return;
  const std::string_view why = sft ? "max_length is null, so rows are as long as the data"
                                   : "transformers' Trainer has no sequence length of its own";
  const std::string_view how = sft ? "give max_length, or --set sequence_length=…"
                                   : "give block_size, max_seq_length or model_max_length, or --set sequence_length=…";
  miss(draft, document, "sequence_length", {"max_length", "block_size", "max_seq_length", "model_max_length"},
       std::string(why), std::string(how));
}

void warn_renamed(const Inputs& inputs, bool sft, TrainingPlan& plan) {
  constexpr std::array<std::array<std::string_view, 2>, 3> renamed{
      {{"torch_dtype", "dtype"},
       {"max_seq_length", "max_length"},
       {"per_gpu_train_batch_size", "per_device_train_batch_size"}}};
  for (const Input& input : inputs) {
    const auto* found = std::ranges::find(renamed, input.key, [](const auto& pair) { return pair[0]; });
    if (found == renamed.end() || (!sft && input.key == "max_seq_length")) continue;
    plan.warnings.push_back(at_key(input, Severity::warning, "ingest/renamed-key",
                                   input.key + " is now called " + std::string((*found)[1]) + "; read as that"));
  }
}

// TRL parses texts; transformers' parse_yaml_file and parse_json_file pass them on as they are: as a flag any text is
// true, and as a number none is one.
void refuse_texts(const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 3> numbers{as::positive.expected, as::count.expected, as::number.expected};
  const auto rows = table().rows;
  for (const Input& input : inputs) {
    if (!input.command_line.empty() || input.value->kind != Node::Kind::string) continue;
    const auto row = std::ranges::find(rows, input.key, &Row<Hf>::key);
    if (row == rows.end()) continue;
    const bool flag = row->expected == as::argparse_boolean.expected && read_argparse_boolean(*input.value) == false;
    if (!flag && std::ranges::count(numbers, row->expected) == 0) continue;
    draft.errors.push_back(bad_value(input,
                                     std::string(row->expected) +
                                         ", without quotes: transformers' parse_yaml_file and parse_json_file pass a "
                                         "text on as it is",
                                     {}));
  }
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  Hf hf;
  Findings findings;
  read_rows(table(), inputs, hf, findings);
  take(draft, std::move(findings));
  TrainingPlan& plan = draft.plan;
  plan.recipe.trainer = hf::trainer_of(hf, inputs, draft);
  const bool sft = plan.recipe.trainer.value != "trainer";
  plan.framework = sft ? "trl 1.16.0 on transformers 5.23.0" : "transformers 5.23.0";
  plan.model.name = setting(hf.model_name_or_path, std::string{}, "");
  plan_precision(hf, sft, plan);
  plan_forward(hf, sft, plan);
  plan_batch(hf, sft, plan);
  const std::int64_t row = plan.batch.sequence_length.value;
  plan_padding(hf, sft, plan);
  hf::plan_evaluation(inputs, sft, {row, is_joined(hf, sft), is_fixed(hf, sft)}, draft);
  plan_step(hf, sft, inputs, draft);
  accumulate(hf.accumulation, draft, document);
  plan_adapter(hf, plan);
  plan.loader = loader_plan(hf.loader, {training_arguments, datasets, sft ? sft_collator : collator});
  if (sft && is(hf.packing, true)) plan.loader.packed = {true, hf.packing.origin};
  warn_renamed(inputs, sft, plan);
  if (!sft) refuse_texts(inputs, draft);
  refuse_scaled_half(draft, document);
  check_facts(sft, draft, document);
  hf::check_refused(hf, inputs, plan.recipe.trainer.value == "sft", draft, document);
  if (!sft) check_own_script(hf, draft, document);
  if (draft.bad_keys.empty() && std::ranges::count(draft.missing, "trainer", &Missing::field) == 0) {
    hf::note_unused(inputs, sft, row, draft);
  }
  return draft;
}

// ---- Back to keys --------------------------------------------------------------------------------------------------

template <class T>
void give(Arg<T>& arg, T value) {
  arg.value = std::move(value);
}

void write_adapter(const TrainingPlan& plan, Hf& hf) {
  give(hf.use_peft, plan.adapter.kind.value == Adapter::lora);
  give(hf.lora_r, plan.adapter.rank.value);
  give(hf.lora_dropout, plan.adapter.dropout.value);
  if (plan.adapter.targets.value != std::vector<std::string>{"peft-default"})
    give(hf.lora_target_modules, plan.adapter.targets.value);
  give(hf.load_in_4bit, plan.quantization.kind.value != Quantization::none);
  if (*hf.load_in_4bit.value) give(hf.bnb_4bit_quant_type, plan.quantization.kind.value);
  give(hf.use_bnb_nested_quant, plan.quantization.double_quantization.value);
}

void write_length(const TrainingPlan& plan, bool sft, Hf& hf) {
  give(hf.per_device_train_batch_size, plan.batch.micro_batch_size.value);
  give(hf.gradient_accumulation_steps, plan.batch.gradient_accumulation_steps.value);
  if (sft) return give(hf.max_length, plan.batch.sequence_length.value);
  if (!plan.batch.padding_mask.value) return give(hf.block_size, plan.batch.sequence_length.value);
  give(hf.max_seq_length, plan.batch.sequence_length.value);
  give(hf.pad_to_max_length, true);
}

void write_step(const TrainingPlan& plan, Hf& hf) {
  const bool momentum = plan.optimizer.name.value == "sgd_momentum";
  give(hf.optim, momentum ? "sgd" : trainer_name(plan.optimizer.name.value));
  if (momentum) give(hf.optim_args, std::string("momentum=0.9"));
  give(hf.max_grad_norm, plan.optimizer.clip_gradients.value ? 1.0 : 0.0);
  give(hf.activation_checkpointing, plan.checkpointing.on.value);
  give(hf.use_reentrant, plan.checkpointing.reentrant.value);
  give(hf.bf16, plan.precision.autocast.value == Autocast::bf16);
  give(hf.fp16, plan.precision.autocast.value == Autocast::fp16);
  give(hf.dtype, plan.precision.weights_dtype.value);
}

std::string write(const TrainingPlan& plan) {
  const bool sft = plan.recipe.trainer.value == "sft" || plan.recipe.loss.value == Loss::chunked_logprob ||
                   plan.adapter.kind.value != Adapter::none;
  Hf hf;
  give(hf.trainer, std::string(sft ? "sft" : "trainer"));
  give(hf.model_name_or_path, plan.model.name.value);
  write_length(plan, sft, hf);
  write_step(plan, hf);
  if (sft) write_adapter(plan, hf);
  give(hf.attn_implementation, plan.kernels.attention.value);
  if (!sft) give(hf.use_cache, plan.recipe.use_cache.value);
  if (!plan.runtime.alloc_conf.value.empty()) give(hf.alloc_conf, plan.runtime.alloc_conf.value);
  write_loader(plan.loader, hf.loader);
  return write_rows(table(), hf) + ingestion::hf::write_evaluation(plan);
}

}  // namespace

namespace dialects {
extern const Dialect hf;
const Dialect hf{"hf",
                 "transformers' TrainingArguments and TRL's SFTConfig",
                 "model_name_or_path",
                 [] { return keys_of(table()); },
                 read,
                 write};
}  // namespace dialects

}  // namespace oomplan::ingestion
