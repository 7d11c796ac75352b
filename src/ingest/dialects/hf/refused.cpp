// transformers 5.23.0: training_args.py, _validate_args; trl 1.16.0: trainer/sft_trainer.py, SFTTrainer.__init__.
#include "refused.hpp"

#include <algorithm>
#include <string>

#include "../../evaluation.hpp"

namespace oomplan::ingestion::hf {
namespace {

std::string text_of(const Inputs& inputs, std::string_view key, std::string_view otherwise) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end() || found->value->kind == Node::Kind::null) return std::string(otherwise);
  return found->value->as_boolean() == false ? "no" : found->value->text;
}

void check_arguments(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document) {
  if (is(hf.get<bool>("bf16"), true) && is(hf.get<bool>("fp16"), true)) {
    conflict(draft, hf.get<bool>("fp16").origin, document,
             "fp16 and bf16 are both true: TrainingArguments takes one of them");
  }
  const Input* fp16_eval = asking(inputs, {"fp16_full_eval"});
  if (fp16_eval != nullptr && asking(inputs, {"bf16_full_eval"}) != nullptr) {
    conflict(draft, origin_of(*fp16_eval), document,
             "fp16_full_eval and bf16_full_eval are both true: TrainingArguments takes one of them");
  }
  const std::string evaluates = text_of(inputs, "eval_strategy", "no");
  const std::string saves = text_of(inputs, "save_strategy", "steps");
  const Input* best = asking(inputs, {"load_best_model_at_end"});
  if (best != nullptr && saves != "best" && evaluates != saves) {
    conflict(draft, origin_of(*best), document,
             "TrainingArguments refuses load_best_model_at_end where eval_strategy (" + evaluates +
                 ") is not save_strategy (" + saves + ")");
  }
  const Input* scheduler = asking(inputs, {"lr_scheduler_type"});
  if (scheduler == nullptr || evaluates != "no") return;
  if (scheduler->value->text == "reduce_lr_on_plateau" || scheduler->value->text == "greedy") {
    conflict(draft, origin_of(*scheduler), document,
             "TrainingArguments refuses " + scheduler->value->text + " without an eval_strategy");
  }
}

bool is_head(const std::string& target) { return target == "lm_head" || target.ends_with(".lm_head"); }

void check_sft(const Arguments& hf, Draft& draft, const Document& document) {
  const bool limited = !is(hf.get<std::int64_t>("max_length"), std::int64_t{0});
  if (is(hf.get<bool>("padding_free"), true) && !is(hf.get<bool>("packing"), true) && limited) {
    conflict(draft, hf.get<bool>("padding_free").origin, document,
             "TRL's SFTTrainer refuses padding_free without packing unless max_length is null, since it would not be "
             "enforced");
  }
  if (is(hf.get<bool>("packing"), true) && !limited) {
    conflict(draft, hf.get<bool>("packing").origin, document,
             "TRL's SFTTrainer refuses packing where max_length is null: rows are packed up to it");
  }
  const auto& targets = hf.get<std::vector<std::string>>("lora_target_modules");
  if (is(hf.get<bool>("use_peft"), true) && targets.value && std::ranges::any_of(*targets.value, is_head)) {
    conflict(draft, targets.origin, document,
             "TRL's SFTTrainer refuses LoRA on lm_head: its loss reads lm_head.weight itself, so the adapter would "
             "never be trained");
  }
}

}  // namespace

void check_refused(const Arguments& hf, const Inputs& inputs, bool sft, Draft& draft, const Document& document) {
  check_arguments(hf, inputs, draft, document);
  if (is(hf.get<bool>("load_in_4bit"), true) && is(hf.get<WeightsDType>("dtype"), WeightsDType::checkpoint)) {
    conflict(draft, hf.get<WeightsDType>("dtype").origin, document,
             "dtype: auto cannot be bitsandbytes' compute dtype: with load_in_4bit, name one (bfloat16)");
  }
  if (sft) check_sft(hf, draft, document);
}

}  // namespace oomplan::ingestion::hf
