// Axolotl 0.18.0. It pins transformers 5.14.1, peft 0.19.1 and accelerate 1.13.0; where its own code takes a default of
// theirs, that default is the same in the versions that the other dialects name.
#include "derive.hpp"

#include <algorithm>
#include <array>

#include "../../condition.hpp"
#include "../../dialect.hpp"
#include "../../loader_facts.hpp"
#include "../../optimizers.hpp"
#include "../trainer/arguments.hpp"
#include "adapter.hpp"
#include "evaluation.hpp"
#include "fsdp.hpp"
#include "images.hpp"
#include "loaded.hpp"
#include "oomplan/core/pattern.hpp"
#include "preference.hpp"
#include "tokens.hpp"

namespace oomplan::ingestion {
namespace {

using Axolotl = Arguments;

const Stack& stack() { return stack_of("axolotl-0.18"); }

Origin own(std::string_view where) { return stack().origin("axolotl", where); }

// ---- Precision: resolve_dtype (utils/config/__init__.py) and the builder's TrainingArguments ----------------------

struct Precision {
  WeightsDType weights = WeightsDType::fp32;
  Autocast autocast = Autocast::none;
  Origin origin{};
};

Precision precision_of(const Axolotl& a) {
  const auto bf16 = a.get<Choice>("bf16");
  const bool automatic = bf16.value.value_or(Choice::automatic) == Choice::automatic;
  const Origin origin = bf16.value ? bf16.origin : own("bf16: auto, on a GPU that has it");
  if (is(bf16, Choice::on) || (automatic && !a.on("fp16"))) return {WeightsDType::bf16, Autocast::bf16, origin};
  if (a.on("bfloat16")) return {WeightsDType::bf16, Autocast::bf16, a.get<bool>("bfloat16").origin};
  if (a.on("fp16")) return {WeightsDType::fp16, Autocast::fp16, a.get<bool>("fp16").origin};
  if (a.on("float16")) return {WeightsDType::fp16, Autocast::none, a.get<bool>("float16").origin};
  if (a.on("load_in_8bit")) return {WeightsDType::fp16, Autocast::none, a.get<bool>("load_in_8bit").origin};
  return {WeightsDType::fp32, Autocast::none, origin};
}

bool has_plugin(const Axolotl& a, std::string_view name) {
  const auto plugins = a.get<std::vector<std::string>>("plugins");
  const auto named = [&](const std::string& plugin) { return axolotl::is_plugin(plugin, name); };
  return plugins.value && std::ranges::any_of(*plugins.value, named);
}

// CutCrossEntropyArgs: the plugin needs no key, but an empty one switches it off.
bool cuts(const Axolotl& a, const Inputs& inputs) {
  const Node* key = find_value(inputs, "cut_cross_entropy");
  const bool off = is(a.get<bool>("cut_cross_entropy"), false) || (key != nullptr && key->kind == Node::Kind::null);
  return has_plugin(a, axolotl::cut_plugin_name) && !off;
}

void plan_precision(const Axolotl& a, const Inputs& inputs, TrainingPlan& plan) {
  const Precision precision = precision_of(a);
  plan.precision.weights_dtype = {precision.weights, precision.origin};
  plan.precision.autocast = {precision.autocast, precision.origin};
  plan.precision.outputs_to_fp32 = {precision.autocast != Autocast::none,
                                    stack().origin("accelerate", "prepare_model")};
  // The loader raises norms, embeddings and head to fp32, and takes that back for adapters, flash attention and cut
  // cross entropy; under FSDP it raises nothing.
  const bool stays = !axolotl::has_adapter(a) && !axolotl::is_sharded(inputs) &&
                     plan.kernels.attention.value != Attention::flash_attention_2 && !cuts(a, inputs);
  plan.precision.fp32_norms = {stays && precision.weights != WeightsDType::fp32, own("ModelLoader")};
}

// ---- Attention -----------------------------------------------------------------------------------------------------

void plan_attention(const Axolotl& a, TrainingPlan& plan) {
  if (a.get<Attention>("attn_implementation").value) return;
  const auto by = [&](std::string_view key, Attention attention) {
    if (a.on(key)) plan.kernels.attention = {attention, a.get<bool>(key).origin};
  };
  by("eager_attention", Attention::eager);
  by("sdp_attention", Attention::sdpa);
  by("flash_attention", Attention::flash_attention_2);
  const bool named = a.on("eager_attention") || a.on("sdp_attention") || a.on("flash_attention");
  if (!named) by("gemma4_hybrid_attn_impl", Attention::flash_attention_2);
}

// ---- The batch -----------------------------------------------------------------------------------------------------

// Rows are padded up to a multiple, of 64 unless said otherwise; an exact pad_to_sequence_len: false rounds nothing.
// TRL's trainers of preferences have collators of their own; that of reward models is given the multiple.
std::int64_t multiple_of(const Axolotl& a, const Inputs& inputs) {
  if (axolotl::is_rl(inputs) || axolotl::sees_images(a)) return 1;
  if (a.on("pretraining_dataset") && a.on("sample_packing")) return 1;  // wrap_streaming_dataset: to sequence_len.
  if (is(a.get<bool>("pad_to_sequence_len"), false) && !a.on("sample_packing")) return 1;
  return a.get<std::int64_t>("pad_to_multiple_of").value.value_or(64);
}

void plan_sizes(const Axolotl& a, const Inputs& inputs, Draft& draft, const Document& document) {
  BatchFacts& batch = draft.plan.batch;
  const auto accumulation = a.get<std::int64_t>("gradient_accumulation_steps");
  const auto total = a.get<std::int64_t>("batch_size");
  give(batch.gradient_accumulation_steps, accumulation);
  if (batch.gradient_accumulation_steps.value == 0) {
    const std::int64_t steps = total.value.value_or(1) / batch.micro_batch_size.value;
    batch.gradient_accumulation_steps = {std::max(steps, std::int64_t{1}), total.origin};
    derive(batch.gradient_accumulation_steps.origin,
           "divided by a micro_batch_size of " + std::to_string(batch.micro_batch_size.value));
  }
  accumulate(a.get<std::int64_t>("accelerator_config.gradient_accumulation_kwargs.num_steps"), draft, document);
  pad_rows(draft.plan, multiple_of(a, inputs));
}

// Whether packed rows reach the attention without any mask: by flash attention, or by sdpa's varlen kernel, which the
// patch manager takes where sdpa was asked for by name.
bool packs_without_mask(const Axolotl& a, const TrainingPlan& plan) {
  const bool named = a.get<Attention>("attn_implementation").value || a.on("sdp_attention");
  const bool varlen =
      named && plan.kernels.attention.value == Attention::sdpa && !is(a.get<bool>("sdpa_varlen"), false);
  return plan.kernels.attention.value == Attention::flash_attention_2 || varlen;
}

void plan_packing(const Axolotl& a, TrainingPlan& plan) {
  if (!a.on("sample_packing")) return;
  const Origin packing = a.get<bool>("sample_packing").origin;
  const bool bare = packs_without_mask(a, plan);
  plan.batch.padding_mask = {!bare, packing};
  derive(plan.batch.padding_mask.origin, bare ? "whose rows need no mask" : "whose rows are told apart by a mask");
  plan.batch.mask_sent = {!bare, plan.batch.padding_mask.origin};
  const bool flash = plan.kernels.attention.value == Attention::flash_attention_2;
  const bool joined = a.on("pretraining_dataset") || !a.get<bool>("multipack_real_batches").value.value_or(!flash);
  if (joined) pack_rows(plan, packing, "micro_batch_size");
}

void check_sizes(const Axolotl& a, Draft& draft, const Document& document) {
  const auto total = a.get<std::int64_t>("batch_size");
  const bool steps = a.get<std::int64_t>("gradient_accumulation_steps").value.value_or(0) > 0;
  const bool rows = a.get<std::int64_t>("micro_batch_size").value.has_value();
  const int given = (rows ? 1 : 0) + (steps ? 1 : 0) + (total.value ? 1 : 0);
  const std::string three = "micro_batch_size, gradient_accumulation_steps and batch_size";
  if (given < 2) {
    miss(draft, document, "micro_batch_size", {"micro_batch_size", "gradient_accumulation_steps", "batch_size"},
         "axolotl wants two of " + three, "add micro_batch_size and another");
  }
  if (steps && total.value) {
    conflict(draft, total.origin, document, "axolotl refuses batch_size beside gradient_accumulation_steps");
  }
}

// ---- Quantized weights
// -------------------------------------------------------------------------------------------------

DType torch_dtype(WeightsDType dtype) {
  return dtype == WeightsDType::bf16 ? DType::bf16 : dtype == WeightsDType::fp16 ? DType::fp16 : DType::fp32;
}

void plan_quantization(const Axolotl& a, TrainingPlan& plan) {
  const auto adapter = a.get<std::string>("adapter");
  const auto kind = a.get<Quantization>("bnb_config_kwargs.bnb_4bit_quant_type");
  const bool qlora = axolotl::is_qlora(a);
  if (adapter.value) {
    plan.quantization.kind = {qlora ? kind.value.value_or(Quantization::nf4) : Quantization::none,
                              qlora && kind.value ? kind.origin : adapter.origin};
  }
  const auto eight = a.get<bool>("load_in_8bit");
  if (is(eight, true) && axolotl::has_adapter(a) && !qlora) plan.quantization.kind = {Quantization::int8, eight.origin};
  plan.quantization.compute_dtype = setting(a.get<DType>("bnb_config_kwargs.bnb_4bit_compute_dtype"),
                                            torch_dtype(plan.precision.weights_dtype.value), own("ModelLoader"));
  auto& loading = plan.precision.fp32_while_loading;
  loading = {plan.precision.weights_dtype.value != WeightsDType::fp32 && !plan.precision.fp32_norms.value,
             own("ModelLoader._configure_embedding_dtypes")};
  const auto skipped = a.get<bool>("embeddings_skip_upcast");
  if (qlora && is(skipped, true)) loading = {false, skipped.origin};
}

// ---- The step ------------------------------------------------------------------------------------------------------

void plan_optimizer(const Axolotl& a, Draft& draft) {
  const auto optimizer = a.get<std::string>("optimizer");
  if (optimizer.value) {
    const OptimizerName* name =
        optimizer.value == axolotl::muon.theirs ? &axolotl::muon : find_optimizer(*optimizer.value);
    const bool played = name != nullptr && !name->plan.empty();
    draft.plan.optimizer.name = {played ? std::string(name->plan) : *optimizer.value, optimizer.origin};
    if (!played) axolotl::cannot(draft, "optimizer " + *optimizer.value, "optimizer", optimizer.origin);
  }
  trainer::plan_clipping(a, draft.plan.optimizer.clip_gradients);
}

// bitsandbytes keeps fp32 state of embeddings where transformers' Trainer makes the optimizer. With rates of their own
// axolotl makes it, and looks for a class Adam8bit, which the Trainer's name for it (AdamW) is not.
void plan_embedding_state(const Axolotl& a, TrainingPlan& plan) {
  auto& state = plan.optimizer.fp32_embedding_state;
  const auto by = [&](const auto& arg) {
    if (arg.value) state = {false, arg.origin};
  };
  by(a.get<double>("embedding_lr"));
  by(a.get<double>("embedding_lr_scale"));
  if (a.on("lr_groups")) by(a.get<bool>("lr_groups"));
  if (!state.value) derive(state.origin, "for which axolotl 0.18.0 makes the optimizer itself, all of it 8-bit");
}

// utils/freeze.py, LayerNamePattern: a dot is a dot but before "+", and a range of rows behind the name is taken off.
std::string freezing_pattern(std::string_view text) {
  const std::size_t open = text.ends_with(']') ? text.rfind('[') : std::string_view::npos;
  const bool rows = open != std::string_view::npos && open > 0 &&
                    text.find_first_not_of("0123456789:", open + 1) == text.size() - 1 &&
                    std::ranges::count(text.substr(open), ':') <= 1;
  if (rows) text = text.substr(0, open);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && (i + 1 == text.size() || text[i + 1] != '+')) out += '\\';
    out += text[i];
  }
  return out;
}

void plan_freezing(const Axolotl& a, TrainingPlan& plan) {
  const auto given = a.get<std::vector<std::string>>("unfrozen_parameters");
  if (!given.value) return;
  plan.recipe.trained = {{}, given.origin};
  for (const std::string& text : *given.value) plan.recipe.trained.value.push_back(freezing_pattern(text));
}

// core/builders/base.py and loaders/model.py: the Trainer is told of no checkpointing. LoRA's models have been told of
// it when they were loaded; what is trained whole gets torch's wrappers around its blocks.
void plan_offload(const Axolotl& a, const Inputs& inputs, TrainingPlan& plan) {
  const Node* said = find_value(inputs, "activation_offloading");
  const Node* old = find_value(inputs, "gradient_checkpointing");
  const bool by_old = old != nullptr && old->text.starts_with("offload");
  if (by_old) said = old;
  if (said == nullptr || !is_set(*said) || said->as_boolean() == false) return;
  const auto input =
      std::ranges::find(inputs, by_old ? "gradient_checkpointing" : "activation_offloading", &Input::key);
  const bool legacy = said->text == "legacy";
  plan.checkpointing.offload = {legacy ? Offload::synchronous : Offload::streamed_clones, origin_of(*input)};
  plan.checkpointing.on = {true, origin_of(*input)};
  if (axolotl::has_adapter(a)) return;
  plan.checkpointing.reentrant = {false, own("ac_wrap_hf_model")};
  plan.checkpointing.wrapped = {true, own("ac_wrap_hf_model")};
}

void plan_step(const Axolotl& a, const Inputs& inputs, Draft& draft) {
  const bool reentrant = !axolotl::is_rl(inputs) && draft.plan.recipe.trained.value.empty();
  draft.plan.checkpointing.reentrant =
      setting(a.get<bool>("gradient_checkpointing_kwargs.use_reentrant"), reentrant, own("normalize_config"));
  plan_offload(a, inputs, draft.plan);
  plan_embedding_state(a, draft.plan);
}

// ---- The loader ----------------------------------------------------------------------------------------------------

// Where nothing is said of three keys, the schema sets all of them (default_dataloader_opts).
void default_loader(LoaderPlan& plan) {
  const Origin source = own("default_dataloader_opts");
  plan.workers = {1, source};
  derive(plan.workers.origin, "as many as GPUs, for each");
  plan.prefetch = {256, source};
  plan.pin_memory = {true, source};
}

void plan_loader(const Axolotl& a, Draft& draft) {
  LoaderPlan& loader = draft.plan.loader;
  draft.worker_a_rank = !a.get<std::int64_t>("dataloader_num_workers").value &&
                        !a.get<std::int64_t>("dataloader_prefetch_factor").value &&
                        !a.get<bool>("dataloader_pin_memory").value;
  if (draft.worker_a_rank) default_loader(loader);
  stream_rows(a.get<bool>("pretraining_dataset"), loader);
  if (loader.rows_as.value != RowsAs::stream) stream_rows(a.get<bool>("streaming"), loader);
  if (loader.rows_as.value == RowsAs::stream) {
    loader.shuffle_buffer = setting(a.get<std::int64_t>("streaming_multipack_buffer_size"), std::int64_t{10'000},
                                    own("AxolotlInputConfig"));
  }
  if (!a.on("sample_packing")) return;
  const Origin packing = a.get<bool>("sample_packing").origin;
  loader.packed = {true, packing};
  loader.columns = {4, packing};
  derive(loader.columns.origin, "which adds position_ids");
}

// ---- Plugins -------------------------------------------------------------------------------------------------------

// check_cross_entropy_conflicts sees the keys that are given; of two plugins, the one that comes last patches the
// model.
void plan_cut_cross_entropy(const Axolotl& a, const Inputs& inputs, Draft& draft, const Document& document) {
  if (!cuts(a, inputs)) return;
  const Setting<Loss> other = draft.plan.recipe.loss;
  draft.plan.recipe.loss = {Loss::cut_cross_entropy, a.get<std::vector<std::string>>("plugins").origin};
  if (other.value != Loss::liger_0_8_0_fused_linear) return;
  if (a.on("cut_cross_entropy")) {
    conflict(draft, other.origin, document,
             "axolotl takes one of cut_cross_entropy and liger_fused_linear_cross_entropy");
  } else {
    axolotl::cannot(draft, "two losses that replace the model's", "liger_fused_linear_cross_entropy", other.origin);
  }
}

// core/builders/causal.py: a compute_loss_func, for which the Trainer keeps the labels back. Models' own losses are
// then not run, whatever patched them.
void plan_entropy_aware(const Axolotl& a, Draft& draft) {
  const auto eaft = a.get<bool>("use_eaft");
  if (!is(eaft, true)) return;
  Setting<Loss>& loss = draft.plan.recipe.loss;
  if (loss.value != Loss::full_logits) axolotl::cannot(draft, "EAFT's loss beside another", "use_eaft", eaft.origin);
  if (draft.plan.evaluation.evaluates.value)
    axolotl::cannot(draft, "evaluation by EAFT's loss", "use_eaft", eaft.origin);
  loss = {Loss::masked_entropy_aware, eaft.origin};
}

// LigerPlugin.pre_model_load, with liger-kernel 0.8.0: without the plugin the keys are dropped unread.
void plan_liger(const Axolotl& a, TrainingPlan& plan) {
  if (!has_plugin(a, axolotl::liger_plugin_name)) return;
  const auto part = [&](std::string_view key, Setting<bool>& fact) {
    fact = setting(a.get<bool>(key), false, own("LigerArgs"));
  };
  part("liger_rms_norm", plan.kernels.liger_rms_norm);
  part("liger_rope", plan.kernels.liger_rope);
  part("liger_glu_activation", plan.kernels.liger_glu);
  part("liger_layer_norm", plan.kernels.liger_layer_norm);
  const auto loss = a.get<bool>("liger_fused_linear_cross_entropy");
  if (is(loss, true)) plan.recipe.loss = {Loss::liger_0_8_0_fused_linear, loss.origin};
}

// KernelsArgs.check_experts_implementation, check_use_kernels and KernelsPlugin.pre_model_load.
void plan_experts(const Axolotl& a, Draft& draft) {
  if (!has_plugin(a, axolotl::kernels_plugin_name)) return;
  TrainingPlan& plan = draft.plan;
  const bool asked = std::ranges::count(plan.unmodelled, "Hub kernels", &Unmodelled::feature) > 0;
  if (!asked) axolotl::cannot(draft, "Hub kernels", "plugins", a.get<std::vector<std::string>>("plugins").origin);
  const auto scatters = a.get<bool>("use_scattermoe");
  if (is(scatters, true)) {
    plan.kernels.experts = {ExpertsImplementation::scattermoe, scatters.origin};
  } else if (!a.get<ExpertsImplementation>("experts_implementation").value) {
    plan.kernels.experts = {ExpertsImplementation::eager, own("KernelsArgs")};
  }
}

// ---- The model's config ---------------------------------------------------------------------------------------------

void plan_overrides(const Inputs& inputs, TrainingPlan& plan) {
  for (const std::string_view key : {"overrides_of_model_config", "model_config"}) {
    const Node* overrides = find_value(inputs, key);
    if (overrides == nullptr) continue;
    for (const Entry& entry : overrides->entries) {
      if (axolotl::is_idle_override(entry) || !axolotl::is_played_override(entry)) continue;
      const bool null = entry.value.kind == Node::Kind::null;
      plan.model_config.emplace_back(entry.key, null ? "null" : entry.value.text);
      derive(plan.model.name.origin, "with " + entry.key + ": " + plan.model_config.back().second + " in its config");
    }
  }
}

// ---- Which trainer -------------------------------------------------------------------------------------------------

// HFRLTrainerBuilder and the reward models' trainers take over where these keys ask for them (axolotl/train.py).
void plan_trainer(const Inputs& inputs, Setting<std::string>& trainer) {
  constexpr std::array<std::array<std::string_view, 2>, 5> by_rl{
      {{"dpo", "dpo"}, {"ipo", "dpo"}, {"kto", "kto"}, {"orpo", "orpo"}, {"simpo", "cpo"}}};  // Others are GRPO's kin.
  for (const Input& input : inputs) {
    if (!is_set(*input.value)) continue;
    if (input.key == "reward_model") trainer = {"reward", origin_of(input)};
    if (input.key == "process_reward_model") trainer = {"prm", origin_of(input)};
    if (input.key == "rl") {
      const auto* found = std::ranges::find(by_rl, input.value->text, [](const auto& row) { return row[0]; });
      trainer = {std::string(found == by_rl.end() ? "grpo" : (*found)[1]), origin_of(input)};
    }
    if (trainer.origin.kind != Origin::Kind::framework_default) return;
  }
}

void plan_facts(const Axolotl& a, const Inputs& inputs, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  plan.framework = stack().name_of("axolotl") + " on " + stack().name_of("transformers");
  plan_trainer(inputs, plan.recipe.trainer);
  plan_supervised(plan);
  if (plan.model.name.value.empty()) {
    miss(draft, document, "model", {"base_model"}, "base_model is not given",
         "add base_model: … or --set base_model=…");
  }
  plan_overrides(inputs, plan);
  plan_attention(a, plan);
  plan_precision(a, inputs, plan);
  plan_sizes(a, inputs, draft, document);
  const axolotl::Batch batch{plan.batch.micro_batch_size.value, plan.batch.sequence_length.value,
                             multiple_of(a, inputs), a.on("sample_packing")};
  plan_packing(a, plan);
  axolotl::plan_images(a, draft, document);
  axolotl::plan_evaluation(axolotl::evaluation_keys(a), batch, stack(), plan);
  plan_quantization(a, plan);
  if (axolotl::is_sharded(inputs)) plan.precision.fp32_while_loading = {false, own("ModelLoader, under FSDP")};
  axolotl::plan_adapter(a, inputs, draft, document);
  axolotl::plan_tokens(a, inputs, draft, document);
  plan_optimizer(a, draft);
  // Its builder of preference training has no such argument (axolotl/core/builders/rl.py).
  if (!axolotl::is_rl(inputs)) trainer::plan_noise(a, draft.plan.recipe.neftune);
  plan_freezing(a, plan);
  axolotl::plan_frozen_towers(a, plan);
  plan_step(a, inputs, draft);
  plan_liger(a, plan);
  plan_experts(a, draft);
  plan_cut_cross_entropy(a, inputs, draft, document);
  plan_entropy_aware(a, draft);
  plan_loader(a, draft);
  axolotl::plan_preference(a, inputs, stack(), draft);
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  const Axolotl a = read_arguments("axolotl", axolotl::features(), inputs, draft);
  begin(draft, stack(), a);
  plan_facts(a, inputs, draft, document);
  check_sizes(a, draft, document);
  axolotl::check_adapter(a, draft, document);
  axolotl::check_preference(inputs, draft, document);
  refuse_scaled_half(draft, document);
  return draft;
}

}  // namespace

namespace dialects {
extern const Dialect axolotl;
const Dialect axolotl{.name = "axolotl",
                      .about = "Axolotl's YAML",
                      .model_key = "base_model",
                      .read = read,
                      .features = ingestion::axolotl::features(),
                      .sayings = ingestion::axolotl::sayings(),
                      .sets_mixed_precision = true,  // utils/trainer.py: prepare_optim_env
                      .fsdp = &ingestion::axolotl::fsdp,
                      .adapt_to_model = ingestion::axolotl::adapt_to_model,
                      .take_quantized = ingestion::axolotl::take_quantized};
}  // namespace dialects

}  // namespace oomplan::ingestion
