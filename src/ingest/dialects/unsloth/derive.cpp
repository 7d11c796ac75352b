// Unsloth 2026.8.19: unsloth/models/loader.py, llama.py, rl.py and trainer.py. What no line of keys.yaml can say of the
// arguments of its scripts.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "../../condition.hpp"
#include "../../dialect.hpp"
#include "../trainer/arguments.hpp"
#include "dynamic.hpp"
#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/pattern.hpp"
#include "oomplan/core/text.hpp"
#include "rollouts.hpp"
#include "script.hpp"

namespace oomplan::ingestion {
namespace {

const Stack& stack() { return stack_of("unsloth-2026.8"); }

Origin own(std::string_view where) { return stack().origin("unsloth", where); }

void gap(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

/// Of a trainer that is not played, the arguments that others have too: its own are accounted for by that.
Inputs without_others(Inputs inputs) {
  const auto trainer = std::ranges::find(inputs, "trainer", &Input::key);
  if (trainer == inputs.end()) return inputs;
  const std::string& call = trainer->value->text;
  const unsloth::Trainer* found = unsloth::find_trainer(std::string_view(call).substr(call.rfind('.') + 1));
  if (found == nullptr || found->feature.empty()) return inputs;
  const auto& known = arguments_of("unsloth");
  std::erase_if(inputs, [&](const Input& input) {
    const bool own = input.key.find('.') == input.key.npos && input.command_line.empty();
    return own && std::ranges::count(known, input.key, &Key::name) == 0;
  });
  return inputs;
}

/// What is not read of a script may be anything, unless its key says nothing of memory.
Inputs without_expressions(Inputs inputs, Draft& draft) {
  const KeyFile& file = key_file("unsloth");
  const auto is_read = [&](const Input& input) {
    if (input.value->kind != Node::Kind::expression) return true;
    if (std::ranges::count(file.no_effect, input.key, &KeyLine::what) > 0) return false;
    // Whatever it is, the rule says what it asks for.
    const auto rules = [&](const KeyLine& rule) { return subject_of(rule.what) == input.key; };
    if (std::ranges::any_of(file.unmodelled, rules)) return true;
    Diagnostic error = at_value(input, "ingest/not-read",
                                input.key + ": " + input.value->text + " is not read, since a script is never run",
                                "write the value, or --set " + input.key + "=…");
    draft.errors.push_back(std::move(error));
    draft.bad_keys.push_back(input.key);
    return false;
  };
  std::erase_if(inputs, [&](const Input& input) { return !is_read(input); });
  return inputs;
}

// ---- The model -----------------------------------------------------------------------------------------------------

/// loader_utils.py: get_model_name. A checkpoint in 4 bits of Unsloth's is the model of that name, quantized.
void plan_model(const Arguments& args, Draft& draft, const Document& document) {
  Setting<std::string>& model = draft.plan.model.name;
  for (const std::string_view suffix : {"-unsloth-bnb-4bit", "-bnb-4bit"}) {
    if (!model.value.ends_with(suffix)) continue;
    model.value.resize(model.value.size() - suffix.size());
    derive(model.origin, "whose weights are in 4 bits");
    break;
  }
  if (model.value.empty()) {
    miss(draft, document, "model", {"from_pretrained.model_name"}, "from_pretrained is given no model_name",
         "--set from_pretrained.model_name=…");
  }
  const auto loader = args.get<std::string>("loader");
  if (loader.value == "FastModel") {  // Whatever the family, it is transformers' code that is compiled.
    draft.plan.kernels.unsloth = {UnslothLayers::none, loader.origin};
  } else if (loader.value && *loader.value != "FastLanguageModel") {
    gap(draft, "a model of " + *loader.value, "loader", loader.origin);
  }
}

/// loader.py: 4 bits where nothing is said, and none where another width is asked for.
void plan_quantization(const Arguments& args, Draft& draft) {
  const auto four = args.get<bool>("from_pretrained.load_in_4bit");
  auto& quantization = draft.plan.quantization.kind;
  if (four.value) quantization = {*four.value ? Quantization::nf4 : Quantization::none, four.origin};
  if (args.on("from_pretrained.load_in_16bit")) {
    quantization = {Quantization::none, args.get<bool>("from_pretrained.load_in_16bit").origin};
  }
  const auto instead = [&](std::string_view key, Quantization kind, std::string_view feature) {
    const auto flag = args.get<bool>(key);
    if (!is(flag, true)) return;
    quantization = {kind, flag.origin};
    gap(draft, std::string(feature), key, flag.origin);
  };
  instead("from_pretrained.load_in_8bit", Quantization::int8, "8-bit weights by Unsloth");
  instead("from_pretrained.full_finetuning", Quantization::none, "full fine-tuning by Unsloth");
}

/// rl.py: without bf16 or fp16 the trainer takes autocast of the model's dtype.
void plan_precision(const Arguments& args, const Inputs& inputs, Draft& draft, const Document& document) {
  constexpr std::array<std::string_view, 3> names{"bfloat16", "float16", "float32"};
  TrainingPlan& plan = draft.plan;
  const auto dtype = args.get<std::string>("from_pretrained.dtype");
  auto& weights = plan.precision.weights_dtype;
  if (dtype.value == "float16") weights = {WeightsDType::fp16, dtype.origin};
  if (dtype.value == "bfloat16") weights = {WeightsDType::bf16, dtype.origin};
  if (dtype.value == "float32") gap(draft, "weights in fp32 under Unsloth", "from_pretrained.dtype", dtype.origin);
  if (dtype.value && std::ranges::count(names, *dtype.value) == 0) {
    const auto input = std::ranges::find(inputs, "from_pretrained.dtype", &Input::key);
    if (input != inputs.end()) draft.errors.push_back(bad_value(*input, "one of bfloat16, float16, float32", names));
    draft.bad_keys.emplace_back("from_pretrained.dtype");
  }
  const bool half = weights.value == WeightsDType::fp16;
  plan.precision.autocast = {half ? Autocast::fp16 : Autocast::bf16, weights.origin};
  plan.quantization.compute_dtype = {half ? DType::fp16 : DType::bf16, weights.origin};
  plan.precision.outputs_to_fp32 = {true, stack().origin("accelerate", "prepare_model")};
  const auto asked = [&](std::string_view key, bool wrong) {
    const auto flag = args.get<std::string>(key);
    if (flag.value != "true" || !wrong) return;
    conflict(draft, flag.origin, document,
             std::string(key) + ": Unsloth refuses it for a model in " + (half ? "float16" : "bfloat16"));
  };
  asked("bf16", half);
  asked("fp16", !half);
}

/// unsloth_zoo/peft_utils.py: get_peft_regex, of a model of text. `names`: of linear layers; all where there are none.
std::string layers_of_parts(bool attention, bool mlp, const std::vector<std::string>& names) {
  std::string parts = attention ? "self_attn|attention|attn|mixer" : "";
  if (mlp) parts += std::string(attention ? "|" : "") + "mlp|feed_forward|ffn|dense|mixer";
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "|") + name;
  return R"(model\.layers\.\d+\.(?:)" + parts + R"()\.)" + (all.empty() ? R"(\w+)" : "(?:" + all + ")");
}

/// FastBaseModel.get_peft_model: adapters by parts of the model, unless all parts get those that are named.
void plan_parts(const Arguments& args, const Inputs& inputs, Draft& draft) {
  constexpr std::string_view language = "get_peft_model.finetune_language_layers";
  constexpr std::string_view vision = "get_peft_model.finetune_vision_layers";
  if (args.get<std::string>("loader").value != "FastModel") return;
  const auto of_language = args.get<bool>(language);
  if (is(of_language, false))
    return gap(draft, "adapters on no part of a language model", language, of_language.origin);
  const auto attention = args.get<bool>("get_peft_model.finetune_attention_modules");
  const auto mlp = args.get<bool>("get_peft_model.finetune_mlp_modules");
  if (is(attention, false) && is(mlp, false))
    return gap(draft, "adapters on no part of a layer", "get_peft_model.finetune_mlp_modules", mlp.origin);
  const auto given = [&](std::string_view key) { return std::ranges::find(inputs, key, &Input::key); };
  const auto saw = given(vision);
  const bool blind = saw != inputs.end() && saw->value->text == "false";
  const auto named = given("get_peft_model.target_modules");
  const bool parts = is(attention, false) || is(mlp, false) || blind;
  Setting<std::vector<std::string>>& targets = draft.plan.adapter.targets;
  if (named != inputs.end() && (!parts || named->value->kind != Node::Kind::sequence)) return;
  const std::vector<std::string> names = named == inputs.end() ? std::vector<std::string>{} : targets.value;
  targets.value = {layers_of_parts(!is(attention, false), !is(mlp, false), names)};
  if (named == inputs.end()) targets.origin = own("get_peft_regex");
}

void plan_adapter(const Arguments& args, const Inputs& inputs, TrainingPlan& plan) {
  const auto called = std::ranges::find(inputs, "get_peft_model.called", &Input::key);
  if (called == inputs.end()) return;
  plan.adapter.kind = {Adapter::lora, origin_of(*called)};
  plan.adapter.kind.origin.source = "get_peft_model";
  const auto targets = args.get<std::vector<std::string>>("get_peft_model.target_modules");
  if (!targets.value) return;
  plan.adapter.targets = {*targets.value, targets.origin};
  // FastLlamaModel.get_peft_model trains the embedding whole.
  std::vector<std::string>& whole = plan.adapter.modules_to_save.value;
  if (std::erase(plan.adapter.targets.value, "embed_tokens") == 0 || std::ranges::count(whole, "embed_tokens") > 0)
    return;
  whole.emplace_back("embed_tokens");
  plan.adapter.modules_to_save.origin = targets.origin;
}

/// _utils.py: apply_unsloth_gradient_checkpointing. Where that switches it off, its SFTConfig's own argument, which is
/// true unless it is given, has transformers' Trainer switch it on again, by torch's own function.
/// Returns whether the trainer's argument decides.
bool plan_checkpointing(const Arguments& args, const Inputs& inputs, Draft& draft) {
  constexpr std::string_view key = "get_peft_model.use_gradient_checkpointing";
  constexpr std::int64_t shortest_offloaded = 512;
  TrainingPlan& plan = draft.plan;
  const auto how = args.get<std::string>(key);
  const auto given = std::ranges::find(inputs, key, &Input::key);
  const std::string value = how.value.value_or("unsloth");
  const bool known = value == "unsloth" || value == "true" || value == "false";
  if (!known || (!how.value && given != inputs.end())) {
    gap(draft, "another way of checkpointing", key, given == inputs.end() ? how.origin : origin_of(*given));
  }
  const Origin said = how.value ? how.origin : plan.checkpointing.on.origin;
  const auto loaded = args.get<std::int64_t>("from_pretrained.max_seq_length");
  const bool plain = value != "unsloth" || loaded.value.value_or(shortest_offloaded) < shortest_offloaded;
  plan.checkpointing.offload = {plain ? Offload::none : Offload::buffered, said};
  plan.checkpointing.on = {value != "false", said};
  if (plan.checkpointing.on.value) return false;
  const auto trainers = args.get<bool>("gradient_checkpointing");
  plan.checkpointing.on = setting(trainers, true, own("its SFTConfig, whose gradient_checkpointing is true"));
  return true;
}

/// The stack has the defaults of Unsloth's own SFTConfig, and SFTTrainer takes another config as it is.
void note_other_config(const Arguments& args, const Inputs& inputs, bool checkpoints, Draft& draft) {
  constexpr std::array<std::string_view, 2> others{"TrainingArguments", "UnslothTrainingArguments"};
  const auto config = args.get<std::string>("config");
  if (!config.value || std::ranges::count(others, *config.value) == 0) return;
  for (const std::string_view key : {"per_device_train_batch_size", "gradient_accumulation_steps", "optim",
                                     "gradient_checkpointing", "per_device_eval_batch_size"}) {
    if (key == "per_device_eval_batch_size" && !draft.plan.evaluation.evaluates.value) continue;
    const bool given = std::ranges::count(inputs, key, &Input::key) > 0;
    if (given || (!checkpoints && key == "gradient_checkpointing")) continue;
    gap(draft, "a default of " + *config.value + " (" + std::string(key) + ")", "config", config.origin);
  }
}

// ---- The rows ------------------------------------------------------------------------------------------------------

/// rl.py: the trainer's rows are as long as the model was loaded for, or as its config's max_seq_length if that is
/// less; max_length counts for nothing.
void plan_length(const Arguments& args, Draft& draft, const Document& document) {
  auto& length = draft.plan.batch.sequence_length;
  const auto loaded = args.get<std::int64_t>("from_pretrained.max_seq_length");
  const auto trained = args.get<std::int64_t>("max_seq_length");
  if (loaded.value == 0) {
    return miss(draft, document, "sequence_length", {"from_pretrained.max_seq_length"},
                "max_seq_length is None, so rows are as long as the model can take",
                "--set from_pretrained.max_seq_length=…");
  }
  if (loaded.value) length = {*loaded.value, loaded.origin};
  if (trained.value && *trained.value < length.value) length = {*trained.value, trained.origin};
}

/// transformers' DataCollatorForSeq2Seq as it is: Unsloth's SFTTrainer puts the one for language models in its place,
/// or it in that one's, by whether the rows have labels (rl.py: data_collator_check). Both pad, to the longest row.
bool is_padding_collator(const Input& input) {
  constexpr auto widens =
      std::to_array<std::string_view>({"pad_to_multiple_of", "padding", "max_length", "model", "*"});
  const std::string_view text = input.value->text;
  const auto names = [&](std::string_view name) { return text.find(name) != text.npos; };
  return input.key == "data_collator" && input.value->kind == Node::Kind::expression &&
         text.starts_with("DataCollatorForSeq2Seq(") && std::ranges::none_of(widens, names) &&
         std::ranges::count(text, ',') <= 1;
}

bool is_evaluation_data(const Input& input) {
  return input.key == "eval_dataset" && input.value->kind != Node::Kind::null;
}

/// trainer.py: rows are joined into one, by packing or without, unless that is switched off or there is a collator.
void plan_rows(const Arguments& args, const Input* collator, Draft& draft, const Document& document) {
  TrainingPlan& plan = draft.plan;
  plan.batch.joined = {0, own("a batch of padded rows")};
  if (collator != nullptr) {
    plan.batch.joined.origin = origin_of(*collator);
    return;
  }
  const auto packing = args.get<bool>("packing");
  const auto padding_free = args.get<bool>("padding_free");
  if (!is(packing, true) && is(padding_free, false)) return;
  const Origin joins = is(packing, true)        ? packing.origin
                       : is(padding_free, true) ? padding_free.origin
                                                : own("_should_auto_padding_free");
  plan.batch.joined = {plan.batch.micro_batch_size.value, joins};
  if (is(packing, true)) {
    miss(draft, document, "joined_rows", {}, "the data decide how many sequences are packed into a row",
         "--set plan.joined_rows=…: those of a whole batch");
  }
  pack_rows(plan, joins, "per_device_train_batch_size");
  plan.loader.packed = {is(packing, true), joins};
}

/// rl.py: an SFTTrainer that is given an eval_dataset has the model return its logits while it evaluates.
/// `row`: the tokens of one.
void plan_evaluation(const Arguments& args, bool has_rows, std::int64_t row, Draft& draft) {
  EvaluationFacts& evaluation = draft.plan.evaluation;
  Setting<bool>& evaluates = evaluation.evaluates;
  const auto strategy = args.get<std::string>("eval_strategy");
  const bool asks = (strategy.value && *strategy.value != "no") || args.on("eval_on_start");
  evaluates = {asks && has_rows, strategy.value ? strategy.origin : own("its SFTConfig")};
  if (!evaluates.value) return;
  if (draft.plan.batch.joined.value == 0)
    return gap(draft, "evaluation of padded rows by Unsloth", "eval_strategy", strategy.origin);
  evaluation.length = {saturating_mul(row, evaluation.rows.value), evaluation.rows.origin};
  derive(evaluation.length.origin, "the tokens of these rows, joined into one");
  evaluation.rows.value = 1;
}

// ---- What runs -----------------------------------------------------------------------------------------------------

/// The class, whatever module it is named by.
std::string trainer_of(const Arguments& args) {
  const std::string call = args.get<std::string>("trainer").value.value_or("");
  return call.substr(call.rfind('.') + 1);
}

bool is_of_pairs(const Arguments& args) {
  return trainer_of(args) == "DPOTrainer" || trainer_of(args) == "ORPOTrainer";
}

bool is_of_rollouts(const Arguments& args) { return trainer_of(args) == "GRPOTrainer"; }

/// Of a trainer that is given no completions by it.
void note_engine(const Arguments& args, Draft& draft) {
  constexpr std::string_view feature = "generation by vLLM on the same GPU";
  const auto fast = args.get<bool>("from_pretrained.fast_inference");
  const auto standby = args.get<std::string>("environ.UNSLOTH_VLLM_STANDBY");
  if (is(fast, true)) gap(draft, std::string(feature), "from_pretrained.fast_inference", fast.origin);
  if (standby.value.value_or("0") != "0")
    gap(draft, std::string(feature), "environ.UNSLOTH_VLLM_STANDBY", standby.origin);
}

void plan_trainer(const Arguments& args, Draft& draft) {
  const auto given = args.get<std::string>("trainer");
  if (!given.value) return;
  const unsloth::Trainer* trainer = unsloth::find_trainer(trainer_of(args));
  draft.plan.recipe.trainer.origin = given.origin;
  if (trainer != nullptr && !trainer->feature.empty()) {
    gap(draft, std::string(trainer->feature), "trainer", given.origin);
  }
}

/// DPOTrainer and ORPOTrainer of trl 0.22.2, which are given the model's logits. Their rows are padded pairs, as long
/// as the trainer's own limit.
void plan_pairs(const Arguments& args, Draft& draft, const Document& document) {
  if (!is_of_pairs(args)) return;
  TrainingPlan& plan = draft.plan;
  const bool dpo = trainer_of(args) == "DPOTrainer";
  const Origin& trainer = plan.recipe.trainer.origin;
  plan.recipe.trainer.value = dpo ? "dpo" : "orpo";
  plan.recipe.kind = {dpo ? RecipeKind::dpo : RecipeKind::reference_free, trainer};
  plan.recipe.second_term = {!dpo, trainer};
  plan.recipe.loss = {Loss::full_logits, trainer};
  const auto longest = args.get<std::int64_t>("max_length");
  plan.batch.sequence_length = setting(longest, std::int64_t{1024}, own("its config of the trainer"));
  if (longest.value == 0 && !dpo) plan.batch.sequence_length.value = 512;
  if (longest.value == 0 && dpo) {
    miss(draft, document, "sequence_length", {"max_length"}, "max_length is None, so pairs are as long as the data has",
         "--set max_length=…");
  }
  const auto padding_free = args.get<bool>("padding_free");
  if (is(padding_free, true)) gap(draft, "pairs in one row", "padding_free", padding_free.origin);
  plan.batch.joined = {0, trainer};
  if (plan.evaluation.evaluates.value)
    gap(draft, "evaluation of pairs", "eval_strategy", plan.evaluation.evaluates.origin);
  if (!dpo) return;
  plan.recipe.outputs_kept = {true, trainer};
  plan.recipe.reference = {Reference::adapter_off, trainer};
}

/// trainer.py: _create_unsloth_optimizer, which unlike transformers' Trainer has bitsandbytes keep no state in fp32.
void plan_embedding_state(const Arguments& args, TrainingPlan& plan) {
  const auto rate = args.get<double>("embedding_learning_rate");
  if (rate.value && trainer_of(args) == "UnslothTrainer") plan.optimizer.fp32_embedding_state = {false, rate.origin};
}

Draft read(const Inputs& given, const Document& document) {
  Draft draft;
  const auto collator = std::ranges::find_if(given, is_padding_collator);
  Inputs known = without_others(given);
  std::erase_if(known, is_padding_collator);
  const Node* trainer = find_value(known, "trainer");
  const bool has_limit =
      trainer != nullptr && (trainer->text.ends_with("DPOTrainer") || trainer->text.ends_with("ORPOTrainer"));
  const bool of_rollouts = trainer != nullptr && trainer->text.ends_with("GRPOTrainer");
  std::erase_if(known, [&](const Input& input) {
    const bool of_prompts = input.key == "max_prompt_length" || input.key == "max_completion_length" ||
                            input.key == "beta" || input.key == "num_generations";
    return (input.key == "max_length" && !has_limit) || (of_prompts && !of_rollouts);
  });
  const bool has_rows = std::erase_if(known, is_evaluation_data) > 0;
  const auto whole = of_rollouts ? unsloth::take_whole_rows(known) : std::nullopt;
  Inputs inputs = without_expressions(std::move(known), draft);
  const auto called = std::ranges::find(inputs, "get_peft_model.called", &Input::key);
  Inputs plain = inputs;
  std::erase_if(plain, [](const Input& input) { return input.key == "get_peft_model.called"; });
  const Diagnostics errors = std::exchange(draft.errors, {});
  const Arguments args = read_arguments("unsloth", {}, plain, draft);
  draft.errors.insert(draft.errors.begin(), errors.begin(), errors.end());
  begin(draft, stack(), args);
  TrainingPlan& plan = draft.plan;
  plan.framework = stack().name_of("unsloth") + " on " + stack().name_of("transformers");
  plan_trainer(args, draft);
  plan_supervised(plan);
  const std::string given_name = plan.model.name.value;
  plan_model(args, draft, document);
  plan_quantization(args, draft);
  if (!unsloth::is_taken_back(given_name)) unsloth::choose_layers(given_name, draft.plan.quantization);
  plan_precision(args, plain, draft, document);
  plan_adapter(args, inputs, plan);
  plan_parts(args, inputs, draft);
  const bool trainer_checkpoints = plan_checkpointing(args, plain, draft);
  plan_length(args, draft, document);
  const std::int64_t row = plan.batch.sequence_length.value;
  if (!is_of_pairs(args) && !is_of_rollouts(args))
    plan_rows(args, collator == given.end() ? nullptr : &*collator, draft, document);
  plan_evaluation(args, has_rows, row, draft);
  note_other_config(args, plain, trainer_checkpoints, draft);
  plan_pairs(args, draft, document);
  is_of_rollouts(args) ? unsloth::plan_rollouts(args, whole, draft, document, own("its GRPOConfig"))
                       : note_engine(args, draft);
  trainer::plan_optimizer(args, plan);
  plan_embedding_state(args, plan);
  trainer::plan_clipping(args, plan.optimizer.clip_gradients);
  if (called == inputs.end())
    gap(draft, "training of all weights by Unsloth", "loader", args.get<std::string>("loader").origin);
  return draft;
}

/// trainer.py: PADDING_FREE_BLOCKLIST, of which no rows are joined. Its masks are as large as the model was loaded for.
void pad_blocked(TrainingPlan& plan, const Architecture& model) {
  BatchFacts& batch = plan.batch;
  if (model.model_type != "gemma2") return;
  const Origin& length = batch.sequence_length.origin;
  if (length.source == "max_seq_length")
    plan.unmodelled.push_back({"rows that are shorter than the model was loaded for", length.source, length.where});
  if (batch.joined.value == 0 || batch.joined.origin.is_said()) return;
  const std::int64_t rows = batch.joined.value;
  const Origin because = own("PADDING_FREE_BLOCKLIST, which has gemma2");
  batch.sequence_length.value /= rows;
  batch.sequence_length.origin.derivation.clear();
  batch.micro_batch_size = {rows, because};
  batch.joined = {0, because};
}

/// FastLlamaModel.get_peft_model hands a model that it has no functions for to FastBaseModel's, with names for adapters
/// in parts of layers alone: an embedding among them is neither adapted nor trained.
std::optional<Diagnostic> adapt_to_model(TrainingPlan& plan, const Architecture& model) {
  pad_blocked(plan, model);
  std::vector<std::string>& targets = plan.adapter.targets.value;
  const bool of_functions = model.unsloth || plan.kernels.unsloth.value == UnslothLayers::none;
  if (of_functions || plan.adapter.kind.value != Adapter::lora || is_expression(targets)) return std::nullopt;
  Setting<std::vector<std::string>>& whole = plan.adapter.modules_to_save;
  if (whole.origin.where == plan.adapter.targets.origin.where) std::erase(whole.value, "embed_tokens");
  if (std::ranges::count(targets, "all-linear") == 0) targets = {layers_of_parts(true, true, targets)};
  return std::nullopt;
}

constexpr auto sayings = std::to_array<Saying>({
    {"optimizer", "optim", trainer::optim},
});

}  // namespace

namespace dialects {
extern const Dialect unsloth;
const Dialect unsloth{.name = "unsloth",
                      .about = "scripts and notebooks that train by Unsloth",
                      .model_key = "from_pretrained.model_name",
                      .read = read,
                      .sayings = sayings,
                      .adapt_to_model = adapt_to_model,
                      .of_script = &ingestion::unsloth::form};
}  // namespace dialects

}  // namespace oomplan::ingestion
