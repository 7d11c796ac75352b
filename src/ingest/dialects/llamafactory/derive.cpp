// LLaMA-Factory 0.9.5: hparams/parser.py, model/loader.py, model/adapter.py, model/model_utils and the workflows of
// train/. What no line of keys.yaml can say of its arguments.
#include <algorithm>
#include <array>

#include "../../condition.hpp"
#include "../../dialect.hpp"
#include "../../evaluation.hpp"
#include "../../key_versions.hpp"
#include "../../loader_facts.hpp"
#include "../trainer/arguments.hpp"
#include "composite.hpp"
#include "loaded.hpp"
#include "oomplan/core/pattern.hpp"
#include "sayings.hpp"

namespace oomplan::ingestion {
namespace {

const Stack& stack() { return stack_of("llamafactory-0.9"); }

Origin own(std::string_view where) { return stack().origin("llamafactory", where); }

// ---- Values --------------------------------------------------------------------------------------------------------

/// The value of a text that is one of these; else an error, and nothing.
std::optional<std::string> one_of(const Arguments& args, std::string_view key, std::span<const std::string_view> names,
                                  const Inputs& inputs, Draft& draft) {
  const auto given = args.get<std::string>(key);
  if (!given.value || std::ranges::count(names, *given.value) > 0) return given.value;
  const auto input = std::ranges::find(inputs, key, &Input::key);
  std::string expected;
  for (const std::string_view name : names) expected += (expected.empty() ? "one of " : ", ") + std::string(name);
  if (input != inputs.end()) draft.errors.push_back(bad_value(*input, expected, names));
  draft.bad_keys.emplace_back(key);
  return std::nullopt;
}

// ---- Which trainer -------------------------------------------------------------------------------------------------

void plan_trainer(const Arguments& args, const Inputs& inputs, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 6> stages{"pt", "sft", "rm", "ppo", "dpo", "kto"};
  constexpr std::array<std::string_view, 6> trainers{"trainer", "trainer", "reward", "ppo", "dpo", "kto"};
  const std::optional<std::string> stage = one_of(args, "stage", stages, inputs, draft);
  if (stage) {
    const auto at = static_cast<std::size_t>(std::ranges::find(stages, *stage) - stages.begin());
    draft.plan.recipe.trainer = {std::string(trainers.at(at)), args.get<std::string>("stage").origin};
  }
  if (args.on("do_train")) return;
  const bool exports = args.get<std::string>("export_dir").value.has_value();
  conflict(draft, args.get<bool>("do_train").origin, document,
           exports ? "export_dir without do_train: LLaMA-Factory exports a model, and trains nothing"
                   : "do_train is not true, so that LLaMA-Factory trains nothing");
  draft.errors.back().code = "ingest/no-training";
  draft.errors.back().hint = "add do_train: true, if it is to train";
}

// ---- The model -----------------------------------------------------------------------------------------------------

// hparams/parser.py: get_train_args. Of other methods transformers' Trainer decides.
void plan_ddp(const Arguments& args, TrainingPlan& plan) {
  if (args.get<std::string>("finetuning_type").value.value_or("lora") != "lora") return;
  plan.mesh.ddp_find_unused =
      setting(args.get<bool>("ddp_find_unused_parameters"), false, own("get_train_args, as finetuning_type is lora"));
}

// train/tuner.py: _ray_training_function starts as many processes (USE_RAY=1), each with a GPU, as torchrun does.
void plan_ray(const Arguments& args, const Inputs& inputs, TrainingPlan& plan) {
  const auto workers = args.get<std::int64_t>("ray_num_workers");
  if (workers.value.value_or(1) < 2) return;
  plan.mesh.world_size = {*workers.value, workers.origin};
  plan.loader.ranks = {*workers.value, workers.origin};
  derive(plan.loader.ranks.origin, "all of them on one machine");
  const auto shards = [](const Input& input) {
    return (input.key == "deepspeed" || input.key == "fsdp") && is_set(*input.value);
  };
  if (std::ranges::none_of(inputs, shards)) plan.mesh.sharding = {Sharding::ddp, workers.origin};
}

// Parameters that are trained are raised to fp32, unless by pure_bf16 (model/adapter.py: init_adapter); peft has
// adapters in fp32 either way.
void plan_method(const Arguments& args, const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 4> methods{"lora", "oft", "freeze", "full"};
  draft.plan.precision.trained_to_fp32 = {!args.on("pure_bf16"), own("init_adapter")};
  const auto decomposes = args.get<bool>("pissa_init");
  if (is(decomposes, true)) draft.plan.adapter.init = {AdapterInit::pissa_niter, decomposes.origin};
  const std::optional<std::string> method = one_of(args, "finetuning_type", methods, inputs, draft);
  if (!method) return;
  const Origin origin = args.get<std::string>("finetuning_type").origin;
  // Of either, lora_target says what is adapted, whatever oft_target is.
  const Adapter kind = *method == "lora" ? Adapter::lora : *method == "oft" ? Adapter::oft : Adapter::none;
  draft.plan.adapter.kind = {kind, origin};
  if (kind == Adapter::oft) give(draft.plan.adapter.rank, args.get<std::int64_t>("oft_rank"));
}

/// Python's regular expression of names with this in them.
std::string with_in_name(std::string_view text) {
  std::string out = ".*";
  for (const char c : text) out += c == '.' ? std::string("\\.") : std::string(1, c);
  return out;
}

// model/adapter.py: _setup_freeze_tuning. Extra modules are parts of names, of layers' parameters too.
void plan_freeze(const Arguments& args, RecipeFacts& recipe) {
  const auto method = args.get<std::string>("finetuning_type");
  if (method.value != "freeze") return;
  recipe.trained_layers =
      setting(args.get<std::int64_t>("freeze_trainable_layers"), std::int64_t{2}, own("FreezeArguments"));
  const auto modules = args.get<std::vector<std::string>>("freeze_trainable_modules");
  if (modules.value && std::ranges::count(*modules.value, "all") == 0) {
    recipe.layer_parts = {*modules.value, modules.origin};
  }
  const auto extra = args.get<std::vector<std::string>>("freeze_extra_modules");
  if (!extra.value) return;
  recipe.trained = {{}, extra.origin};
  for (const std::string& name : *extra.value) recipe.trained.value.push_back(with_in_name(name));
}

void plan_targets(const Arguments& args, Setting<std::vector<std::string>>& targets) {
  const auto given = args.get<std::vector<std::string>>("lora_target");
  if (!given.value) return;
  const bool all = *given.value == std::vector<std::string>{"all"};
  targets = {all ? std::vector<std::string>{"all-linear"} : *given.value, given.origin};
}

void plan_precision(const Arguments& args, TrainingPlan& plan) {
  auto& autocast = plan.precision.autocast;
  auto& compute = plan.quantization.compute_dtype;
  const auto by = [&](std::string_view key, Autocast kind, DType dtype) {
    const auto flag = args.get<bool>(key);
    if (!flag.value) return;
    if (kind != Autocast::none && (*flag.value || autocast.value == Autocast::none)) {
      autocast = {*flag.value ? kind : Autocast::none, flag.origin};
    }
    if (*flag.value) compute = {dtype, flag.origin};
  };
  by("fp16", Autocast::fp16, DType::fp16);
  by("bf16", Autocast::bf16, DType::bf16);
  by("pure_bf16", Autocast::none, DType::bf16);
  plan.precision.outputs_to_fp32 = {autocast.value != Autocast::none, stack().origin("accelerate", "prepare_model")};
}

void plan_quantization(const Arguments& args, TrainingPlan& plan) {
  const auto bits = args.get<std::int64_t>("quantization_bit");
  const auto kind = args.get<Quantization>("quantization_type");
  if (!bits.value) return;
  plan.quantization.kind = {kind.value.value_or(Quantization::nf4), kind.value ? kind.origin : bits.origin};
  if (*bits.value == 8) plan.quantization.kind = {Quantization::int8, bits.origin};
  // What packs them is what they are computed in, so that FSDP can flatten them.
  const DType compute = plan.quantization.compute_dtype.value;
  plan.quantization.storage = {compute == DType::bf16   ? QuantStorage::bf16
                               : compute == DType::fp16 ? QuantStorage::fp16
                                                        : QuantStorage::fp32,
                               own("configure_quantization")};
}

// FinetuningArguments: a model's tower and its projector are frozen unless it is said.
void plan_frozen(const Arguments& args, Setting<std::vector<std::string>>& frozen) {
  const auto tower = args.get<bool>("freeze_vision_tower");
  const auto projector = args.get<bool>("freeze_multi_modal_projector");
  const auto names = llamafactory::frozen_parts(tower.value.value_or(true), projector.value.value_or(true));
  const Origin by_default = own("FinetuningArguments");
  frozen = {names, tower.value ? tower.origin : projector.value ? projector.origin : by_default};
}

// ---- Preferences ---------------------------------------------------------------------------------------------------

// train/dpo/workflow.py, train/kto/workflow.py: without a model of its own the reference is the policy without its
// adapter, or the model loaded a second time.
void plan_reference(const Arguments& args, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  plan.recipe.reference = {adapts ? Reference::adapter_off : Reference::model, own("create_ref_model")};
  const auto other = args.get<std::string>("ref_model");
  if (other.value) draft.plan.unmodelled.push_back({"a reference model of its own", "ref_model", other.origin.where});
}

void plan_preference(const Arguments& args, const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 6> losses{"sigmoid", "hinge", "ipo", "kto_pair", "orpo", "simpo"};
  TrainingPlan& plan = draft.plan;
  const Setting<std::string> trainer = plan.recipe.trainer;
  if (trainer.value == "reward") plan.recipe.kind = {RecipeKind::reward_values, trainer.origin};
  if (trainer.value != "dpo" && trainer.value != "kto") return;
  plan.recipe.kind = {trainer.value == "dpo" ? RecipeKind::paired_logits : RecipeKind::unpaired_logits, trainer.origin};
  const std::optional<std::string> loss = one_of(args, "pref_loss", losses, inputs, draft);
  const bool compares = trainer.value == "kto" || (loss != "orpo" && loss != "simpo");
  if (compares) plan_reference(args, draft);
}

// data/collator.py: SFTDataCollatorWith4DAttentionMask gives all numbers with a point the type of computation.
void plan_pixels(TrainingPlan& plan) {
  const DType compute = plan.quantization.compute_dtype.value;
  plan.images.dtype = {compute == DType::bf16   ? MixedDType::bf16
                       : compute == DType::fp16 ? MixedDType::fp16
                                                : MixedDType::fp32,
                       own("SFTDataCollatorWith4DAttentionMask")};
}

// auto leaves it to the model's class, which takes sdpa where it can.
void plan_attention(const Arguments& args, const Inputs& inputs, Draft& draft) {
  constexpr std::array<std::string_view, 4> names{"auto", "disabled", "sdpa", "fa2"};
  const std::optional<std::string> name = one_of(args, "flash_attn", names, inputs, draft);
  if (!name || *name == "auto") return;
  const Attention attention = *name == "fa2"    ? Attention::flash_attention_2
                              : *name == "sdpa" ? Attention::sdpa
                                                : Attention::eager;
  draft.plan.kernels.attention = {attention, args.get<std::string>("flash_attn").origin};
}

/// The Trainer switches checkpoints on again (Trainer._inner_training_loop), by the function that LLaMA-Factory has put
/// in the place of the model's, whose checkpoints are reentrant, or where that was disabled by the model's own.
void plan_checkpointing(const Arguments& args, CheckpointingFacts& checkpointing) {
  const auto disabled = args.get<bool>("disable_gradient_checkpointing");
  if (disabled.value) checkpointing.on = {!*disabled.value, disabled.origin};
  const auto again = args.get<bool>("gradient_checkpointing");
  if (!again.value.value_or(false)) return;
  checkpointing.reentrant = {checkpointing.on.value, again.origin};
  checkpointing.on = {true, again.origin};
}

// ---- The batch and the step ----------------------------------------------------------------------------------------

bool is_pretraining(const Arguments& args) { return args.get<std::string>("stage").value == "pt"; }

/// In pretraining texts are joined unless it is false (hparams/parser.py; data/processor/pretrain.py); rows of
/// preferences never are.
Setting<bool> packing_of(const Arguments& args) {
  const auto stage = args.get<std::string>("stage");
  if (stage.value == "dpo" || stage.value == "kto" || stage.value == "rm") return {false, stage.origin};
  return setting(args.get<bool>("packing"), is_pretraining(args), own("get_train_args"));
}

// The collator pads to a multiple of 8, but in pretraining; packed rows are filled to cutoff_len, and their mask is all
// ones (data/processor/supervised.py).
void plan_batch(const Arguments& args, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  if (!is_pretraining(args)) pad_rows(plan, 8);
  accumulate(args.get<std::int64_t>("accelerator_config.gradient_accumulation_kwargs.num_steps"), draft, document);
  const Setting<bool> packing = packing_of(args);
  if (!packing.value) return;
  plan.batch.padding_mask = {false, packing.origin};
  derive(plan.batch.padding_mask.origin, "whose rows are filled to cutoff_len");
  plan.loader.packed = {true, packing.origin};
  if (is_pretraining(args)) return;
  plan.loader.columns = {4, packing.origin};
  derive(plan.loader.columns.origin, "which adds position_ids");
}

void plan_loader(const Arguments& args, LoaderPlan& loader) {
  // model/patcher.py: patch_config gives a device_map beside it alone.
  const auto at_once = args.get<bool>("low_cpu_mem_usage");
  if (is(at_once, false)) loader.weights_on = {WeightsOn::unknown, at_once.origin};
  stream_rows(args.get<bool>("streaming"), loader);
  if (loader.rows_as.value != RowsAs::stream) return;
  loader.shuffle_buffer = setting(args.get<std::int64_t>("buffer_size"), std::int64_t{16'384}, own("DataArguments"));
}

// run_sft evaluates after training too, where do_eval asks for it, beside the optimizer's state.
void plan_evaluation(const Arguments& args, EvaluationFacts& evaluation) {
  const auto strategy = args.get<std::string>("eval_strategy");
  for (const std::string_view key : {"do_eval", "eval_on_start"}) {
    if (args.on(key)) evaluation.evaluates = {true, args.get<bool>(key).origin};
  }
  if (strategy.value && strategy.value != "no") evaluation.evaluates = {true, strategy.origin};
  if (!evaluation.evaluates.value) {
    evaluation.rows.value = 0;
    evaluation.padded.value = false;
    return;
  }
  give(evaluation.rows, args.get<std::int64_t>("per_device_eval_batch_size"));
  const Setting<bool> packing = packing_of(args);
  if (packing.value) evaluation.padded = {false, packing.origin};
}

// ---- Of its own -----------------------------------------------------------------------------------------------------

// train/trainer_utils.py: create_custom_optimizer; train/sft/trainer.py: its loss takes the place of the model's.
void plan_own(const Arguments& args, TrainingPlan& plan) {
  if (args.on("use_muon")) plan.optimizer.name = {"llamafactory_muon", args.get<bool>("use_muon").origin};
  if (args.on("use_adam_mini")) plan.optimizer.name = {"adam_mini", args.get<bool>("use_adam_mini").origin};
  if (args.on("use_eaft_loss")) plan.recipe.loss = {Loss::entropy_aware, args.get<bool>("use_eaft_loss").origin};
  if (args.on("use_dft_loss")) plan.recipe.loss = {Loss::dynamic_fine_tuning, args.get<bool>("use_dft_loss").origin};
}

// model/model_utils/liger_kernel.py: the classes of the model's module, before it is loaded.
void plan_liger(const Arguments& args, TrainingPlan& plan) {
  const auto liger = args.get<bool>("enable_liger_kernel");
  if (!liger.value || !*liger.value) return;
  for (Setting<bool>* part : {&plan.kernels.liger_rms_norm, &plan.kernels.liger_rope, &plan.kernels.liger_glu}) {
    *part = {true, liger.origin};
  }
  plan.recipe.loss = {Loss::liger_fused_linear, liger.origin};
}

// ---- All of it -----------------------------------------------------------------------------------------------------

// train/trainer_utils.py, 0.9.3 to 0.9.5: _create_galore_optimizer and _create_apollo_optimizer make something of
// adamw_torch and raise NotImplementedError at adamw_torch_fused, and transformers has the one or the other by default.
void check_default_optimizer(const Inputs& inputs, Draft& draft) {
  if (holds("optim?", inputs) || draft.plan.optimizer.name.value == "adamw_foreach") return;
  for (const std::string_view key : {"use_galore", "use_apollo"}) {
    const Input* uses = asking(inputs, {key});
    if (uses == nullptr || !holds(key, inputs)) continue;
    draft.errors.push_back(at_value(*uses, "ingest/refused",
                                    uses->key + ": " + stack().name_of("llamafactory") + " stops at " +
                                        stack().name_of("transformers") + "'s default optimizer; it wants adamw_torch" +
                                        (key == "use_galore" ? ", adamw_bnb_8bit or adafactor" : "")));
  }
}

void check(const Arguments& args, Draft& draft, const Document& document) {
  const auto& targets = draft.plan.adapter.targets;
  if (is_expression(targets.value)) {
    conflict(draft, targets.origin, document,
             "lora_target: LLaMA-Factory takes names of modules, and none is " + targets.value.front());
  }
  if (draft.plan.model.name.value.empty()) {
    miss(draft, document, "model", {"model_name_or_path"}, "model_name_or_path is not given",
         "add model_name_or_path: … or --set plan.model=…");
  }
  if (args.on("bf16") && args.on("fp16")) {
    conflict(draft, args.get<bool>("fp16").origin, document,
             "fp16 and bf16 are both true: TrainingArguments takes one of them");
  }
}

// Its parser takes no other keys, whatever the stage (hparams/parser.py: _parse_args).
constexpr auto always = [](std::string_view /*package*/, std::string_view /*trainer*/) { return true; };
constexpr KeyReaders readers{always, always};

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  const Arguments args = read_arguments("llamafactory", {}, inputs, draft);
  begin(draft, stack(), args);
  TrainingPlan& plan = draft.plan;
  plan.framework = stack().name_of("llamafactory") + " on " + stack().name_of("transformers");
  plan_trainer(args, inputs, draft, document);
  plan_supervised(plan);
  plan_method(args, inputs, draft);
  plan_ddp(args, plan);
  plan_ray(args, inputs, plan);
  plan_freeze(args, plan.recipe);
  plan_targets(args, plan.adapter.targets);
  plan_frozen(args, plan.recipe.frozen);
  plan_preference(args, inputs, draft);
  plan_precision(args, plan);
  plan_quantization(args, plan);
  plan_pixels(plan);
  plan_attention(args, inputs, draft);
  plan_checkpointing(args, plan.checkpointing);
  plan_batch(args, draft, document);
  trainer::plan_optimizer(args, plan);
  plan_liger(args, plan);
  plan_own(args, plan);
  trainer::plan_clipping(args, plan.optimizer.clip_gradients);
  trainer::plan_noise(args, plan.recipe.neftune);
  plan_loader(args, plan.loader);
  refuse_by_version(key_file("llamafactory"), stack(), readers, inputs, draft);
  plan_evaluation(args, plan.evaluation);
  check(args, draft, document);
  check_default_optimizer(inputs, draft);
  return draft;
}

// Two of these tell its configs from those of other scripts over transformers' Trainer.
constexpr auto tells =
    std::to_array<std::string_view>({"finetuning_type", "stage", "template", "cutoff_len", "lora_target",
                                     "infer_backend", "export_dir", "quantization_bit"});

}  // namespace

namespace dialects {
extern const Dialect llamafactory;
const Dialect llamafactory{.name = "llamafactory",
                           .about = "LLaMA-Factory's YAML",
                           .model_key = "model_name_or_path",
                           .read = read,
                           .sayings = ingestion::llamafactory::sayings(),
                           .tells = tells,
                           .adapt_to_model = ingestion::llamafactory::adapt_to_model,
                           .take_quantized = ingestion::llamafactory::take_quantized};
}  // namespace dialects

}  // namespace oomplan::ingestion
