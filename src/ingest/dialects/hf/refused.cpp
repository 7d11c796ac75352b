// transformers 5.23.0: training_args.py, _validate_args; trl 1.16.0: trainer/sft_trainer.py, SFTTrainer.__init__.
#include <algorithm>
#include <array>
#include <string>

#include "../../evaluation.hpp"
#include "../../versions.hpp"
#include "derive.hpp"
#include "evaluation.hpp"
#include "oomplan/core/pattern.hpp"
#include "oomplan/plan/trainer.hpp"

namespace oomplan::ingestion::hf {
namespace {

std::string said(const Arg<std::string>& arg, std::string_view otherwise) {
  return arg.value.value_or(std::string(otherwise));
}

// YAML 1.1 reads `no` as false, and an enumeration of transformers' has no such member. --set is a command line's text.
void check_words(const Inputs& inputs, Draft& draft) {
  for (const Input& input : inputs) {
    const bool word = input.key == "eval_strategy" || input.key == "save_strategy";
    if (!word || !input.command_line.empty() || input.value->kind != Node::Kind::boolean) continue;
    draft.errors.push_back(at_value(input, "ingest/bad-value",
                                    input.key + ": YAML reads " + input.value->text +
                                        " as true or false, which transformers refuses; it takes the text \"no\"",
                                    "put it in quotes"));
  }
}

// transformers reads it as a flag or a word; TRL gives a config's word to argparse, which takes flags alone for it.
void check_counted(const Inputs& inputs, Draft& draft, const Document& document) {
  const Input* counted = asking(inputs, {"include_num_input_tokens_seen"});
  const bool word = counted != nullptr && (counted->value->text == "all" || counted->value->text == "non_padding");
  if (!word || version_behind("trl", draft.plan.framework).empty()) return;
  conflict(draft, origin_of(*counted), document,
           "include_num_input_tokens_seen: TRL's parser refuses " + counted->value->text + ", and takes true or false");
}

void check_best(const EvaluationKeys& keys, Draft& draft, const Document& document) {
  const std::string evaluates = said(keys.strategy, "no");
  const std::string saves = said(keys.saves, "steps");
  if (!is(keys.best_at_end, true) || saves == "best" || evaluates == saves) return;
  conflict(draft, keys.best_at_end.origin, document,
           "TrainingArguments refuses load_best_model_at_end where eval_strategy (" + evaluates +
               ") is not save_strategy (" + saves + ")");
}

void check_scheduler(const EvaluationKeys& keys, const Inputs& inputs, Draft& draft, const Document& document) {
  const Input* scheduler = asking(inputs, {"lr_scheduler_type"});
  if (scheduler == nullptr || said(keys.strategy, "no") != "no") return;
  if (scheduler->value->text == "reduce_lr_on_plateau" || scheduler->value->text == "greedy") {
    conflict(draft, origin_of(*scheduler), document,
             "TrainingArguments refuses " + scheduler->value->text + " without an eval_strategy");
  }
}

void check_arguments(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document) {
  if (is(hf.get<bool>("bf16"), true) && is(hf.get<bool>("fp16"), true)) {
    conflict(draft, hf.get<bool>("fp16").origin, document,
             "fp16 and bf16 are both true: TrainingArguments takes one of them");
  }
  const EvaluationKeys evaluation = evaluation_keys(hf);
  if (is(evaluation.all_fp16, true) && is(evaluation.all_bf16, true)) {
    conflict(draft, evaluation.all_fp16.origin, document,
             "fp16_full_eval and bf16_full_eval are both true: TrainingArguments takes one of them");
  }
  check_words(inputs, draft);
  check_counted(inputs, draft, document);
  check_best(evaluation, draft, document);
  check_scheduler(evaluation, inputs, draft, document);
}

bool is_head(const std::string& target) { return target == "lm_head" || target.ends_with(".lm_head"); }

/// From a version of TRL on: the values of packing_strategy (trainer/sft_config.py).
struct Strategies {
  std::string_view since{};
  std::string_view expected{};
  std::array<std::string_view, 3> names{};
};
constexpr std::array<Strategies, 4> strategies{{
    {"0.19", "one of ffd, wrapped", {"ffd", "wrapped"}},
    {"0.20", "one of bfd, wrapped", {"bfd", "wrapped"}},
    {"0.29", "one of bfd, bfd-requeue, wrapped", {"bfd", "bfd-requeue", "wrapped"}},
    {"1.0", "one of bfd, bfd_split, wrapped", {"bfd", "bfd_split", "wrapped"}},
}};

// What is not packed has no strategy. Versions before 0.19 refuse the key itself.
void check_strategy(const Arguments& hf, const Inputs& inputs, std::string_view trl, Draft& draft) {
  const auto& strategy = hf.get<std::string>("packing_strategy");
  const Input* input = asking(inputs, {"packing_strategy"});
  if (input == nullptr || !strategy.value || !is(hf.get<bool>("packing"), true)) return;
  const auto after = std::ranges::find_if(strategies, [&](const Strategies& s) { return is_older(trl, s.since); });
  if (after == strategies.begin()) return;
  const Strategies& own = *std::prev(after);
  if (std::ranges::count(own.names, *strategy.value) > 0) return;
  if (*strategy.value == "bfd-requeue" && own.since == "1.0") {
    draft.plan.warnings.push_back(
        at_key(*input, Severity::warning, "ingest/renamed-key", "bfd-requeue is now called bfd_split; read as that"));
    return;
  }
  draft.errors.push_back(bad_value(*input, std::string(own.expected) + " in trl " + std::string(trl), {}));
}

// Versions of TRL before 1.0 warn of it where the attention is not flash attention, and run.
void check_sft(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document) {
  const std::string trl = framework_version(draft.plan, "trl");
  check_strategy(hf, inputs, trl, draft);
  const bool limited = !is(hf.get<std::int64_t>("max_length"), std::int64_t{0});
  const bool alone = is(hf.get<bool>("padding_free"), true) && !is(hf.get<bool>("packing"), true);
  if (alone && limited && !is_older(trl, "1.0")) {
    conflict(draft, hf.get<bool>("padding_free").origin, document,
             "TRL's SFTTrainer refuses padding_free without packing unless max_length is null, since it would not be "
             "enforced");
  }
  if (is(hf.get<bool>("packing"), true) && !limited) {
    conflict(draft, hf.get<bool>("packing").origin, document,
             "TRL's SFTTrainer refuses packing where max_length is null: rows are packed up to it");
  }
}

// TRL's ModelConfig makes a text of a list of one (trainer/model_config.py), which peft takes for an expression of a
// module's whole name.
bool matches_nothing(const std::vector<std::string>& targets) {
  constexpr std::array<std::string_view, 3> whole{"all-linear", "lm_head", "score"};
  return targets.size() == 1 && !is_expression(targets) && targets.front().find('.') == std::string::npos &&
         std::ranges::count(whole, targets.front()) == 0;
}

void check_targets(const Arguments& hf, Draft& draft, const Document& document) {
  const auto& targets = hf.get<std::vector<std::string>>("lora_target_modules");
  if (!is(hf.get<bool>("use_peft"), true) || !targets.value) return;
  constexpr std::array<std::string_view, 6> fused_heads{"sft", "dpo", "kto", "grpo", "rloo", "gkd"};
  const TrainerName* trainer = find_trainer(draft.plan.recipe.trainer.value);
  const bool reads_head = of_labelled_tokens(draft.plan.recipe.loss.value);
  const bool fused = reads_head && trainer != nullptr && std::ranges::count(fused_heads, trainer->name) > 0;
  if (fused && std::ranges::any_of(*targets.value, is_head)) {
    conflict(draft, targets.origin, document,
             std::string(trainer->title) + " refuses LoRA on lm_head: its loss reads lm_head.weight itself, so the " +
                 "adapter would never be trained");
  }
  if (matches_nothing(*targets.value)) {
    conflict(draft, targets.origin, document,
             "TRL gives peft a single target as an expression of whole names, and \"" + targets.value->front() +
                 "\" matches no module; \".*" + targets.value->front() + "\" does");
  }
}

// TRL's scripts (scripts/sft.py and its like) give a data set for evaluation only where eval_strategy asks for one.
void check_start(const EvaluationKeys& keys, Draft& draft, const Document& document) {
  const bool script = draft.plan.recipe.trainer.value != "trainer";
  if (!script || !is(keys.on_start, true) || said(keys.strategy, "no") != "no") return;
  conflict(draft, keys.on_start.origin, document,
           "eval_on_start: TRL's script has no rows to evaluate where eval_strategy is no, and Trainer stops there");
}

}  // namespace

void check_refused(const Arguments& hf, const Inputs& inputs, bool sft, Draft& draft, const Document& document) {
  check_arguments(hf, inputs, draft, document);
  if (is(hf.get<bool>("load_in_4bit"), true) && is(hf.get<WeightsDType>("dtype"), WeightsDType::checkpoint)) {
    conflict(draft, hf.get<WeightsDType>("dtype").origin, document,
             "dtype: auto cannot be bitsandbytes' compute dtype: with load_in_4bit, name one (bfloat16)");
  }
  if (sft) check_sft(hf, inputs, draft, document);
  check_targets(hf, draft, document);
  check_start(evaluation_keys(hf), draft, document);
  check_preference(hf, inputs, draft, document);
}

}  // namespace oomplan::ingestion::hf
