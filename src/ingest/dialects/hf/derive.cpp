// Hugging Face: transformers' TrainingArguments, TRL's SFTConfig, ModelConfig and ScriptArguments, and the keys of
// transformers' example scripts, as YAML or JSON. What no line of keys.yaml can say of them.
#include "derive.hpp"

#include <algorithm>
#include <array>

#include "../../condition.hpp"
#include "../../dialect.hpp"
#include "../../key_versions.hpp"
#include "../../loader_facts.hpp"
#include "../../python_values.hpp"
#include "../../versions.hpp"
#include "../trainer/arguments.hpp"
#include "evaluation.hpp"

namespace oomplan::ingestion {
namespace {

using Hf = Arguments;

/// What decides how a batch is made, beside the arguments.
struct Run {
  const Hf& hf;
  const Stack& stack;
  bool sft = false;    ///< One of TRL's trainers.
  bool packs = false;  ///< SFT itself.
};

// transformers before 5.0: modeling_utils.py, from_pretrained, whose dtype is torch's where it is null.
void plan_null_dtype(const Run& run, const Inputs& inputs, TrainingPlan& plan) {
  if (!is_older(version_in(run.stack, "transformers"), "5.0")) return;
  const auto said = std::ranges::find_if(inputs, [](const Input& input) {
    return (input.key == "dtype" || input.key == "torch_dtype") && input.value->kind == Node::Kind::null;
  });
  if (said != inputs.end()) plan.precision.weights_dtype = {WeightsDType::fp32, origin_of(*said)};
}

void plan_precision(const Run& run, TrainingPlan& plan) {
  const auto fp16 = run.hf.get<bool>("fp16");
  const auto bf16 = run.hf.get<bool>("bf16");
  auto& autocast = plan.precision.autocast;
  if (bf16.value) autocast = {*bf16.value ? Autocast::bf16 : Autocast::none, bf16.origin};
  if (is(fp16, true)) autocast = {Autocast::fp16, fp16.origin};
  plan.precision.outputs_to_fp32 = {autocast.value != Autocast::none, run.stack.origin("accelerate", "prepare_model")};
}

// TRL's trainers take Liger's layers only, and refuse its loss; transformers' takes all of it.
void plan_liger(const Run& run, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  const auto liger = run.hf.get<bool>("use_liger_kernel");
  const auto part = [&](std::string_view key, Setting<bool>& fact) {
    give(fact, liger);
    if (fact.value) give(fact, run.hf.get<bool>(key));
  };
  part("liger_kernel_config.rms_norm", plan.kernels.liger_rms_norm);
  part("liger_kernel_config.rope", plan.kernels.liger_rope);
  part("liger_kernel_config.swiglu", plan.kernels.liger_glu);
  const auto loss = run.hf.get<bool>("liger_kernel_config.fused_linear_cross_entropy");
  if (!is(liger, true)) return;
  if (run.sft && is(loss, true)) {
    conflict(draft, loss.origin, document,
             "TRL's trainers refuse Liger's fused linear cross entropy: they patch the model's forward themselves");
  }
  if (!run.sft && !is(loss, false)) {
    plan.recipe.loss = {Loss::liger_fused_linear, loss.value ? loss.origin : liger.origin};
  }
}

// transformers 5.23.0: Trainer.compute_loss, and trl 1.16.0: SFTTrainer.compute_loss, which smooths the labels of one
// of its losses. Trainers of preferences and rewards never ask for their label smoother.
void plan_label_smoothing(const Run& run, const Inputs& inputs, TrainingPlan& plan) {
  const auto factor = run.hf.get<double>("label_smoothing_factor");
  const Node* loss = find_value(inputs, "loss_type");
  const bool dft = run.sft && loss != nullptr && loss->text == "dft";
  if (!factor.value || plan.recipe.kind.value != RecipeKind::supervised) return;
  plan.recipe.label_smoothing = {*factor.value != 0 && !dft, factor.origin};
  if (run.sft || !plan.recipe.label_smoothing.value || plan.recipe.loss.value != Loss::liger_fused_linear) return;
  if (!plan.evaluation.evaluates.value) return;
  // Trainer.prediction_step asks Liger's forward pass for no logits, and the label smoother has taken the labels.
  plan.unmodelled.push_back({"evaluation of Liger's loss with label smoothing, which stops the run,",
                             "label_smoothing_factor", factor.origin.where});
}

// Its value goes to the model's config; with_model_defaults has what the model makes of it.
void plan_router_loss(const Run& run, TrainingPlan& plan) {
  const auto coefficient = run.hf.get<double>("router_aux_loss_coef");
  if (coefficient.value) plan.recipe.router_loss = {*coefficient.value != 0, coefficient.origin};
}

// Where it is none of the trainer's own, such a key tells another script.
void note_preference(const Run& run, TrainingPlan& plan) {
  const RecipeKind kind = plan.recipe.kind.value;
  const auto note = [&](std::string_view key, const auto& arg) {
    if (arg.value) plan.unmodelled.push_back({std::string(hf::other_training), std::string(key), arg.origin.where});
  };
  if (plan.recipe.trainer.value != "cpo") note("cpo_alpha", run.hf.get<double>("cpo_alpha"));
  if (kind == RecipeKind::dpo || kind == RecipeKind::kto) return;
  note("precompute_ref_log_probs", run.hf.get<bool>("precompute_ref_log_probs"));
  note("precompute_ref_batch_size", run.hf.get<std::int64_t>("precompute_ref_batch_size"));
}

// Pairs are joined otherwise than SFT's rows, by the versions that still did.
void note_joined_pairs(const Run& run, TrainingPlan& plan) {
  const auto joins = run.hf.get<bool>("padding_free");
  const std::string_view trl = version_in(run.stack, "trl");
  if (plan.recipe.kind.value != RecipeKind::dpo || !is(joins, true) || !is_older(trl, "0.29")) return;
  plan.unmodelled.push_back(
      {"trl " + std::string(trl) + "'s rows without padding", "padding_free", joins.origin.where});
}

// The rows of a batch, and how long they get. Packed rows of one batch are one row, with a mask that keeps them apart
// where the attention is not flash attention.
void plan_length(const Run& run, TrainingPlan& plan) {
  constexpr std::array<std::string_view, 3> scripts{"model_max_length", "max_seq_length", "block_size"};
  const auto by = [&](std::string_view key) { give(plan.batch.sequence_length, run.hf.get<std::int64_t>(key)); };
  if (run.sft) {
    by("max_length");
    if (has_key(key_file("hf"), run.stack, "max_seq_length")) by("max_seq_length");
    // SFTTrainer took 1024 for null, or the tokenizer's limit where that is lower.
    const bool null = run.packs && plan.batch.sequence_length.value == 0;
    if (null && is_older(version_in(run.stack, "trl"), "0.15"))
      plan.batch.sequence_length = run.stack.plan().batch.sequence_length;
  } else {
    std::ranges::for_each(scripts, by);
  }
}

std::int64_t multiple_of(const Run& run) { return run.hf.get<std::int64_t>("pad_to_multiple_of").value.value_or(1); }

/// Before 0.15 by ConstantLengthDataset, which has no other.
bool is_wrapped(const Run& run) {
  return is(run.hf.get<std::string>("packing_strategy"), std::string("wrapped")) ||
         is_older(version_in(run.stack, "trl"), "0.15");
}

// trl 0.29: sft_trainer.py, __init__, whose collator joins packed rows of bfd alone and pads others; from 1.0 on
// bfd-requeue is another name of bfd_split (sft_config.py).
bool is_padded(const Run& run) {
  const bool requeued = is(run.hf.get<std::string>("packing_strategy"), std::string("bfd-requeue"));
  return requeued && is_older(version_in(run.stack, "trl"), "1.0");
}

bool is_joined(const Run& run) {
  const bool packed = run.hf.on("packing") && !is_wrapped(run) && !is_padded(run);
  return run.packs && (run.hf.on("padding_free") || packed);
}

// trl up to 0.23.0: DataCollatorForLanguageModeling sends positions under flash attention only, else a mask of ones, in
// which nothing keeps the samples apart.
bool are_kept_apart(const Run& run) { return !is_older(version_in(run.stack, "trl"), "0.23.1"); }

bool is_fixed(const Run& run) {
  if (!run.sft) return run.hf.get<std::int64_t>("block_size").value.has_value();
  return run.packs && run.hf.on("packing") && is_wrapped(run);
}

void plan_padding(const Run& run, TrainingPlan& plan) {
  const auto packing = run.hf.get<bool>("packing");
  auto& mask = plan.batch.padding_mask;
  if (is_joined(run)) {
    // One text has no mask; one that is padded has, whose padding counts its positions anew.
    const bool alone = !run.hf.on("packing") && plan.batch.micro_batch_size.value == 1 && multiple_of(run) == 1;
    const std::int64_t sample = plan.batch.sequence_length.value;
    pack_rows(plan, is(packing, true) ? packing.origin : run.hf.get<bool>("padding_free").origin,
              "per_device_train_batch_size");
    pad_rows(plan, multiple_of(run));
    const bool apart = are_kept_apart(run);
    const bool flash = plan.kernels.attention.value == Attention::flash_attention_2;
    const Origin collator = run.stack.origin("trl", "DataCollatorForLanguageModeling(padding_free=True)");
    mask = {!flash && (apart ? !alone : multiple_of(run) > 1), collator};
    if (apart || flash) plan.longest_sample = std::max<std::int64_t>(sample, 1);
    plan.batch.mask_sent = {mask.value || (!flash && !apart), collator};
    return;
  }
  const std::int64_t row = plan.batch.sequence_length.value;
  pad_rows(plan, multiple_of(run));
  if (is_fixed(run) && plan.batch.sequence_length.value == row) {
    mask = {false, run.sft ? packing.origin : run.hf.get<std::int64_t>("block_size").origin};
    derive(mask.origin, "whose rows need no mask");
  } else {
    const bool padded = plan.batch.micro_batch_size.value > 1 || run.hf.on("pad_to_max_length") ||
                        run.hf.get<std::int64_t>("model_max_length").value.has_value();
    mask = {padded, assumed(padded ? "rows of a batch differ in length and are padded"
                                   : "a batch of one row needs no padding")};
    if (multiple_of(run) > 1) mask = {true, run.hf.get<std::int64_t>("pad_to_multiple_of").origin};
  }
}

// What a row is padded by has no label; of SFT's rows these keys leave out more, and no key says how much.
void plan_labels(const Run& run, std::int64_t row, TrainingPlan& plan) {
  auto& labelled = plan.batch.completion_length;
  const bool left_out = run.packs && (run.hf.on("assistant_only_loss") || run.hf.on("completion_only_loss"));
  const bool padded = plan.batch.sequence_length.value > row;
  if (is_joined(run) || labelled.value != 0 || row < 2 || !(left_out || padded)) return;
  const bool known = plan.recipe.kind.value == RecipeKind::supervised && !left_out;
  labelled = {row - 1, known ? plan.batch.sequence_length.origin
                             : assumed("all of the longest row but its first token may be a completion")};
  if (padded) derive(labelled.origin, "all but the first of " + std::to_string(row) + " tokens, which are padded");
}

// transformers says use_reentrant: false only where nothing is left of the kwargs once its own keys (and TRL's) are
// taken out; torch takes true for what nobody says. The old name's kwargs count where the new one's are not there.
void plan_reentrant(const Run& run, const Inputs& inputs, Setting<bool>& reentrant) {
  constexpr std::array<std::string_view, 3> taken_out{"every_n_layers", "offload", "selective"};
  const auto own = run.hf.get<bool>("activation_checkpointing_kwargs.use_reentrant");
  const Node* kwargs = find_value(inputs, "activation_checkpointing_kwargs");
  const bool old = !own.value && (kwargs == nullptr || kwargs->kind == Node::Kind::null);
  if (old) kwargs = find_value(inputs, "gradient_checkpointing_kwargs");
  const bool open = kwargs != nullptr && std::ranges::any_of(kwargs->entries, [&](const Entry& entry) {
                      return std::ranges::count(taken_out, entry.key) == 0;
                    });
  if (open) reentrant = {true, run.stack.origin("torch", "checkpoint, whose kwargs are given without use_reentrant")};
  give(reentrant, old ? run.hf.get<bool>("gradient_checkpointing_kwargs.use_reentrant") : own);
}

DType compute_dtype(WeightsDType dtype) {
  return dtype == WeightsDType::bf16 ? DType::bf16 : dtype == WeightsDType::fp16 ? DType::fp16 : DType::fp32;
}

constexpr std::string_view raises =
    "decides whether prepare_model_for_kbit_training raises quantized models' other weights to fp32";
constexpr std::string_view raises_hint = "--set plan.kbit_upcast=true or --set plan.kbit_upcast=false";

// What a script around a plain Trainer makes of TRL's keys for adapters is its own affair; of what TRL's scripts would
// do, only the user knows whether it does the same.
void check_own_script(const Hf& hf, Draft& draft, const Document& document) {
  if (!hf.on("use_peft")) return;
  const std::string whose = "a script around a plain Trainer, and no library's, ";
  if (!hf.get<std::int64_t>("lora_r").value) {
    miss(draft, document, "lora_rank", {"lora_r"}, whose + "sets LoRA's rank, and lora_r is not given",
         "add lora_r: … or --set plan.lora_rank=…");
  }
  if (!hf.on("load_in_4bit") && !hf.on("load_in_8bit")) return;
  miss(draft, document, "kbit_upcast", {}, whose + std::string(raises), std::string(raises_hint));
}

// trl 1.16: trainer/model_config.py refuses both.
void plan_quantization(const Hf& hf, Setting<Quantization>& quantization) {
  const auto four = hf.get<bool>("load_in_4bit");
  const auto eight = hf.get<bool>("load_in_8bit");
  const auto kind = hf.get<Quantization>("bnb_4bit_quant_type");
  if (four.value) quantization = {Quantization::none, four.origin};
  if (is(eight, true)) quantization = {Quantization::int8, eight.origin};
  if (!is(four, true)) return;
  quantization = {kind.value.value_or(Quantization::nf4), kind.value ? kind.origin : four.origin};
}

// trl 0.9 to 0.28 calls peft's prepare_model_for_kbit_training, and in bf16 brings embeddings and head back:
// SFTTrainer up to 0.25, DPOTrainer in all of them. After that adapters are cast to bf16, and nothing else.
void plan_quantized_adapter(TrainingPlan& plan) {
  const std::string trl(version_behind("trl", plan.framework));
  const bool packs = plan.recipe.trainer.value == "sft";
  const auto by = [&](std::string_view where) {
    return Origin{.kind = Origin::Kind::framework_default, .source = "trl " + trl + ": " + std::string(where)};
  };
  const Setting<bool>& dora = plan.adapter.dora;
  const std::string_view trainer = plan.recipe.trainer.value;
  if (dora.value && (is_older(trl, "1.15") || trainer == "orpo" || trainer == "cpo")) {
    plan.unmodelled.push_back(
        {"DoRA whose magnitudes TRL lowers to bf16, of which no run was measured,", "use_dora", dora.origin.where});
  }
  auto& upcast = plan.quantization.kbit_upcast;
  if (packs && !is_older(trl, "0.26")) upcast = {false, by("SFTTrainer")};
  if (!upcast.value) {
    plan.adapter.dtype = {AdapterDType::bf16, by("SFTTrainer")};
    return;
  }
  const bool was_run = is_older(trl, "0.15") || (!is_older(trl, "0.16") && is_older(trl, "0.25"));
  if (packs && !was_run) {
    plan.unmodelled.push_back(
        {"how TRL " + trl + " prepares quantized models for SFT", "quantization", plan.quantization.kind.origin.where});
  }
  const bool lowers =
      plan.quantization.kind.value != Quantization::int8 && plan.precision.autocast.value == Autocast::bf16;
  plan.precision.fp32_while_loading = {lowers, by("peft_module_casting_to_bf16")};
}

void plan_adapter(const Run& run, TrainingPlan& plan) {
  const auto peft = run.hf.get<bool>("use_peft");
  if (peft.value) plan.adapter.kind = {*peft.value ? Adapter::lora : Adapter::none, peft.origin};
  plan_quantization(run.hf, plan.quantization.kind);
  const bool quantized = plan.quantization.kind.value != Quantization::none;
  if (quantized && run.sft) plan_quantized_adapter(plan);
  const auto dtype = run.hf.get<WeightsDType>("dtype");
  if (dtype.value) plan.quantization.compute_dtype = {compute_dtype(*dtype.value), dtype.origin};
}

// ---- What is wrong or old ------------------------------------------------------------------------------------------

void check_facts(const Run& run, Draft& draft, const Document& document) {
  const bool sft = run.sft;
  const TrainingPlan& plan = draft.plan;
  if (plan.model.name.value.empty()) {
    miss(draft, document, "model", {"model_name_or_path"}, "model_name_or_path is not given",
         "add model_name_or_path: … or --set plan.model=…");
  }
  if (plan.batch.sequence_length.value > 0) return;
  if (plan.recipe.kind.value == RecipeKind::grpo) {
    return miss(draft, document, "sequence_length", {}, "no key says how long prompts are, which rows begin with",
                "--set sequence_length=…, the longest prompt and max_completion_length together");
  }
  const std::string_view why = sft ? "max_length is null, so rows are as long as the data"
                                   : "transformers' Trainer has no sequence length of its own";
  const std::string_view how = is_joined(run) ? "--set sequence_length=…, the tokens of all rows of a batch together"
                               : sft
                                   ? "give max_length, or --set sequence_length=…"
                                   : "give block_size, max_seq_length or model_max_length, or --set sequence_length=…";
  miss(draft, document, "sequence_length", {"max_length", "block_size", "max_seq_length", "model_max_length"},
       std::string(why), std::string(how));
}

// A script around a plain Trainer may have the old name of its own.
void warn_renamed(const Inputs& inputs, TrainingPlan& plan) {
  for (const Input& input : inputs) {
    if (input.key != "torch_dtype") continue;
    plan.warnings.push_back(
        at_key(input, Severity::warning, "ingest/renamed-key", "torch_dtype is now called dtype; read as that"));
  }
}

// `trl sft` hands keys that no argument class has on to accelerate's parser, which knows none; trl.scripts.sft leaves
// them out. The fields of TRL's other trainers are in no list of versions, and scripts around a plain Trainer have keys
// of their own.
constexpr KeyReaders readers{
    [](std::string_view package, std::string_view trainer) { return package != "trl" || trainer != "trainer"; },
    [](std::string_view /*package*/, std::string_view trainer) { return trainer == "sft"; }};

// TRL parses texts; transformers' parse_yaml_file and parse_json_file pass them on as they are: as a flag any text is
// true, and as a number none is one.
void refuse_texts(const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 3> numbers{as::positive.expected, as::count.expected, as::number.expected};
  for (const Input& input : inputs) {
    if (!input.command_line.empty() || input.value->kind != Node::Kind::string) continue;
    const auto key = std::ranges::find(arguments_of("hf"), input.key, &Key::name);
    if (key == arguments_of("hf").end()) continue;
    const std::string expected(key->codec->expected);
    const bool flag = expected == as::argparse_boolean.expected && read_argparse_boolean(*input.value) == false;
    if (!flag && std::ranges::count(numbers, expected) == 0) continue;
    draft.errors.push_back(bad_value(input,
                                     expected +
                                         ", without quotes: transformers' parse_yaml_file and parse_json_file pass a "
                                         "text on as it is",
                                     {}));
  }
}

// TRL's scripts, before the trainer said so itself, loaded models without a cache where they are checkpointed.
void plan_cache(const Run& run, TrainingPlan& plan) {
  auto& cache = plan.recipe.use_cache;
  if (!run.sft || !cache.value || !plan.checkpointing.on.value) return;
  cache = {false, plan.checkpointing.on.origin};
  derive(cache.origin, "beside which TRL's script loads the model without a cache");
}

void plan_facts(const Run& run, const Inputs& inputs, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  plan.framework = run.sft ? run.stack.name_of("trl") + " on " + run.stack.name_of("transformers")
                           : run.stack.name_of("transformers");
  plan_precision(run, plan);
  plan_null_dtype(run, inputs, plan);
  if (!run.sft) give(plan.recipe.use_cache, run.hf.get<bool>("use_cache"));
  plan_cache(run, plan);
  plan_supervised(plan);
  plan_liger(run, draft, document);
  plan_length(run, plan);
  const std::int64_t row = plan.batch.sequence_length.value;
  plan_padding(run, plan);
  hf::plan_saving(hf::evaluation_keys(run.hf), draft.plan.saving);
  hf::plan_evaluation(hf::evaluation_keys(run.hf), inputs, run.sft,
                      {row, multiple_of(run), is_joined(run), is_fixed(run)}, draft);
  plan_reentrant(run, inputs, plan.checkpointing.reentrant);
  const auto offload = run.hf.get<bool>("activation_offloading");
  if (is(offload, true) && run.sft) plan.checkpointing.offload = {Offload::streamed, offload.origin};
  if (offload.value && !run.sft) {
    conflict(draft, offload.origin, document,
             "activation_offloading: it is TRL's, and transformers' parser stops at an argument that it does not know");
  }
  trainer::plan_optimizer(run.hf, plan);
  trainer::plan_clipping(run.hf, plan.optimizer.clip_gradients);
  trainer::plan_noise(run.hf, plan.recipe.neftune);
  accumulate(run.hf.get<std::int64_t>("accelerator_config.gradient_accumulation_kwargs.num_steps"), draft, document);
  plan_adapter(run, plan);
  hf::plan_preference(run.hf, inputs, run.stack, draft);
  plan_labels(run, row, plan);
  plan_label_smoothing(run, inputs, plan);
  plan_router_loss(run, plan);
  note_preference(run, plan);
  note_joined_pairs(run, plan);
  stream_rows(run.hf.get<bool>("streaming"), plan.loader);
  const auto packing = run.hf.get<bool>("packing");
  if (run.sft && is(packing, true)) plan.loader.packed = {true, packing.origin};
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  const Hf hf = read_arguments("hf", hf::features(), inputs, draft);
  const Setting<std::string> trainer = hf::trainer_of(hf, inputs, draft);
  const bool sft = trainer.value != "trainer";
  const Run run{hf, stack_of(sft ? "trl-1.16" : "trl-1.16-scripts"), sft, trainer.value == "sft"};
  begin(draft, run.stack, hf);
  draft.plan.recipe.trainer = trainer;
  hf::plan_head(inputs, draft.plan);
  plan_facts(run, inputs, draft, document);
  hf::ask_for_trainer(inputs, draft);
  const std::int64_t row = draft.plan.batch.sequence_length.value;
  refuse_by_version(key_file("hf"), run.stack, readers, inputs, draft);
  if (!sft) {
    warn_renamed(inputs, draft.plan);
    refuse_texts(inputs, draft);
  }
  refuse_scaled_half(draft, document);
  check_facts(run, draft, document);
  hf::check_refused(hf, inputs, trainer.value == "sft", draft, document);
  if (!sft) check_own_script(hf, draft, document);
  if (draft.bad_keys.empty() && std::ranges::count(draft.missing, "trainer", &Missing::field) == 0) {
    hf::note_unused(inputs, {sft, has_key(key_file("hf"), run.stack, "max_seq_length")}, row, draft);
  }
  return draft;
}

// trl 1.16: trainer/grpo_trainer.py, rloo_trainer.py and dpo_trainer.py, whatever the config says of checkpoints.
// SFTTrainer does so too, but transformers 5.23's Trainer reads arguments of another name; here those that were off
// while rows were scored come back by TRL's own (models/utils.py: disable_gradient_checkpointing).
void spread(const Inputs& /*inputs*/, const Document& /*document*/, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const RecipeKind kind = plan.recipe.kind.value;
  const bool scores = kind == RecipeKind::grpo || kind == RecipeKind::dpo;
  if (!scores || plan.mesh.sharding.value != Sharding::zero3) return;
  if (plan.adapter.kind.value != Adapter::none) {
    plan.checkpointing.reentrant = {
        true, {Origin::Kind::framework_default, "trl: its trainers, with adapters at DeepSpeed's stage 3"}};
  }
}

// TRL's trainers look at the model, whatever has quantized it.
std::optional<Diagnostic> take_quantized(TrainingPlan& plan, Quantization asked) {
  const bool trl = plan.framework.starts_with("trl ");
  if (trl && asked == Quantization::none) plan_quantized_adapter(plan);
  if (trl || plan.quantization.kbit_upcast.origin.is_said()) return std::nullopt;
  return Diagnostic{.code = "ingest/missing-fact",
                    .message = "a script around a plain Trainer, and no library's, " + std::string(raises),
                    .where = plan.model.name.origin.where,
                    .hint = std::string(raises_hint)};
}

}  // namespace

namespace dialects {
constexpr OwnFsdp trainers_fsdp{};

extern const Dialect hf;
const Dialect hf{.name = "hf",
                 .about = "transformers' TrainingArguments and TRL's SFTConfig",
                 .model_key = "model_name_or_path",
                 .read = read,
                 .features = ingestion::hf::features(),
                 .sayings = ingestion::hf::sayings(),
                 .fsdp = &trainers_fsdp,
                 .take_quantized = take_quantized,
                 .spread = spread};
}  // namespace dialects

}  // namespace oomplan::ingestion
