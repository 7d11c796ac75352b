#include "oomplan/plan/trainer.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "derive.hpp"

namespace oomplan::ingestion::hf {
namespace {

using Names = std::span<const std::string_view>;

// Of trl 1.16.0, fields of SFTConfig that no other trainer's config, no other argument class and no transformers
// example has.
constexpr std::array<std::string_view, 7> sft_only{"assistant_only_loss", "completion_only_loss", "dataset_kwargs",
                                                   "dataset_text_field",  "eval_packing",         "packing",
                                                   "packing_strategy"};

// What TRL's scripts share: ModelConfig, ScriptArguments, DatasetMixtureConfig, and fields that several of its
// trainers' configs have. Scripts around a plain Trainer often borrow them.
constexpr std::array<std::string_view, 35> trl{"activation_offloading",
                                               "attn_implementation",
                                               "bnb_4bit_quant_storage",
                                               "bnb_4bit_quant_type",
                                               "chat_template_path",
                                               "dataset_config",
                                               "dataset_num_proc",
                                               "dataset_streaming",
                                               "dataset_test_split",
                                               "dataset_train_split",
                                               "datasets",
                                               "eos_token",
                                               "ignore_bias_buffers",
                                               "load_in_4bit",
                                               "load_in_8bit",
                                               "lora_alpha",
                                               "lora_dropout",
                                               "lora_modules_to_save",
                                               "lora_r",
                                               "lora_target_modules",
                                               "lora_target_parameters",
                                               "lora_task_type",
                                               "loss_type",
                                               "max_length",
                                               "model_init_kwargs",
                                               "pad_to_multiple_of",
                                               "pad_token",
                                               "padding_free",
                                               "router_aux_loss_coef",
                                               "shuffle_dataset",
                                               "test_split_size",
                                               "truncation_mode",
                                               "use_bnb_nested_quant",
                                               "use_dora",
                                               "use_peft"};

// What only transformers' examples (run_clm, run_mlm and their like) and scripts after Alpaca's and FastChat's have,
// and what decides how they make rows or models.
constexpr std::array<std::string_view, 16> plain{"block_size",        "config_name",
                                                 "doc_stride",        "keep_linebreaks",
                                                 "line_by_line",      "max_answer_length",
                                                 "mlm_probability",   "model_max_length",
                                                 "n_best_size",       "null_score_diff_threshold",
                                                 "pad_to_max_length", "task_name",
                                                 "test_file",         "train_file",
                                                 "validation_file",   "version_2_with_negative"};

// Of them, what only run_qa.py has, and run_seq2seq_qa.py, which makes a model write its answers.
constexpr std::array<std::string_view, 5> answers{"doc_stride", "max_answer_length", "n_best_size",
                                                  "null_score_diff_threshold", "version_2_with_negative"};
constexpr std::array<std::string_view, 7> written{
    "answer_column",   "context_column",        "generation_max_length", "num_beams",
    "question_column", "predict_with_generate", "val_max_answer_length"};

// What they have besides; scripts around TRL's trainers borrow it.
constexpr std::array<std::string_view, 15> plain_besides{"cache_dir",
                                                         "dataset_config_name",
                                                         "ignore_mismatched_sizes",
                                                         "low_cpu_mem_usage",
                                                         "max_eval_samples",
                                                         "max_predict_samples",
                                                         "max_train_samples",
                                                         "model_type",
                                                         "overwrite_cache",
                                                         "preprocessing_num_workers",
                                                         "token",
                                                         "tokenizer_name",
                                                         "use_auth_token",
                                                         "use_fast_tokenizer",
                                                         "validation_split_percentage"};

const Input* first_of(const Inputs& inputs, Names names) {
  const auto found = std::ranges::find_if(inputs, [&](const Input& input) {
    return std::ranges::count(names, std::string_view(input.key).substr(0, input.key.find('.'))) > 0;
  });
  return found == inputs.end() ? nullptr : &*found;
}

Setting<std::string> told_by(const Input& input, std::string name, std::string_view whose) {
  Setting<std::string> out{std::move(name), origin_of(input)};
  derive(out.origin, "a key that only " + std::string(whose) + " have");
  return out;
}

void note_ambiguous(const Input& theirs, const Input& ours, Draft& draft) {
  const std::string message = theirs.key + " is a key of scripts around transformers' Trainer and " + ours.key +
                              " one of TRL's: which trainer reads this is not known";
  draft.missing.push_back({"trainer", at_key(theirs, Severity::error, "ingest/ambiguous-trainer", message,
                                             "say it with --trainer trainer, sft, dpo, …")});
}

struct Unused {
  std::string_view key{};
  bool in_sft = false;  ///< Whether TRL's SFT reads it, and whether scripts around a plain Trainer do.
  bool in_plain = false;
};

constexpr auto lengths = std::to_array<Unused>({
    {"max_length", true, false},
    {"max_seq_length", false, true},
    {"model_max_length", false, true},
    {"block_size", false, true},
});

// Where more than one is given, the one that says the length is the origin of it.
bool is_length_used(const Input& input, const Unused& row, const Reader& reader, const TrainingPlan& plan,
                    std::int64_t length) {
  const Origin& origin = plan.batch.sequence_length.origin;
  const bool same = origin.source == input.key || origin.source == input.command_line;
  const bool old = reader.old_length && input.key == "max_seq_length";
  if ((reader.sft ? row.in_sft || old : row.in_plain) && same) return true;
  return input.value->kind == Node::Kind::null || input.value->as_integer() == length;
}

void note(const Input& input, std::string_view field, bool sft, Draft& draft) {
  const std::string whose(sft ? "TRL's SFT" : "a plain Trainer's script");
  const std::string message = input.key + ": " + whose + " does not take it, so what it says would be left out";
  draft.missing.push_back(
      {std::string(field),
       at_value(input, "ingest/unused-key", message,
                sft ? "--trainer trainer, if a script around transformers' Trainer reads this file; "
                      "else leave the key out, or --set " +
                          input.key + "="
                    : "--trainer sft, if TRL's SFT reads this file; else leave the key out, or "
                      "--set " +
                          input.key + "=")});
}

}  // namespace

void ask_for_trainer(const Inputs& inputs, Draft& draft) {
  if (draft.plan.recipe.trainer.origin.kind != Origin::Kind::assumed) return;
  std::vector<Unmodelled>& gaps = draft.plan.unmodelled;
  const auto gap = std::ranges::find(gaps, other_training, &Unmodelled::feature);
  if (gap == gaps.end()) return;
  const auto key = std::ranges::find(inputs, gap->key, &Input::key);
  if (key == inputs.end()) return;
  const std::string message =
      key->key +
      " is not a key of TRL's SFT, but of its trainers for preferences, rewards or completions: which "
      "one reads this file is not known";
  draft.missing.push_back({"trainer", at_key(*key, Severity::error, "ingest/ambiguous-trainer", message,
                                             "say it with --trainer dpo, kto, orpo, cpo, reward, grpo, rloo or gkd")});
  std::erase_if(gaps, [](const Unmodelled& one) { return one.feature == other_training; });
}

Setting<std::string> trainer_of(const Arguments& hf, const Inputs& inputs, Draft& draft) {
  if (hf.get<std::string>("trainer").value)
    return {*hf.get<std::string>("trainer").value, hf.get<std::string>("trainer").origin};
  const Input* own = first_of(inputs, sft_only);
  const Input* shared = first_of(inputs, trl);
  const Input* theirs = first_of(inputs, plain);
  if (theirs != nullptr && (own != nullptr || shared != nullptr)) note_ambiguous(*theirs, own ? *own : *shared, draft);
  if (theirs != nullptr) return told_by(*theirs, "trainer", "scripts around transformers' Trainer");
  if (own != nullptr) return told_by(*own, "sft", "the arguments of TRL's SFT");
  const Input* besides = shared == nullptr ? first_of(inputs, plain_besides) : nullptr;
  if (besides != nullptr) return told_by(*besides, "trainer", "scripts around transformers' Trainer");
  return {"sft", assumed("no key says whose trainer reads this")};
}

void plan_head(const Inputs& inputs, TrainingPlan& plan) {
  const Input* tells = first_of(inputs, answers);
  if (plan.recipe.trainer.value != "trainer" || tells == nullptr || first_of(inputs, written) != nullptr) return;
  plan.model.head = {HeadKind::question_answering, origin_of(*tells)};
  derive(plan.model.head.origin, "a key that only run_qa.py has");
}

void note_unused(const Inputs& inputs, const Reader& reader, std::int64_t length, Draft& draft) {
  for (const Input& input : inputs) {
    const auto* row = std::ranges::find(lengths, input.key, &Unused::key);
    if (row != lengths.end() && !is_length_used(input, *row, reader, draft.plan, length))
      note(input, "sequence_length", reader.sft, draft);
    const bool packs = input.key == "packing" || input.key == "padding_free";
    if (packs && !reader.sft && is_set(*input.value)) note(input, "padding_mask", reader.sft, draft);
  }
}

}  // namespace oomplan::ingestion::hf
