#include <algorithm>
#include <array>

#include "../../python_values.hpp"
#include "derive.hpp"

namespace oomplan::ingestion::hf {
namespace {

void gap(std::string_view feature, std::string_view key, const Origin& at, Draft& draft) {
  draft.plan.unmodelled.push_back({std::string(feature), std::string(key), at.where});
}

// compute_loss: two values have a divergence of their own.
Setting<Divergence> divergence_of(const Inputs& inputs, const Stack& stack) {
  const auto beta = given<double>(inputs, "beta", "number");
  if (!beta.value) return {Divergence::mixed, stack.origin("trl", "GKDConfig, whose beta is 0.5")};
  if (*beta.value == 0.0) return {Divergence::forward, beta.origin};
  return {*beta.value == 1.0 ? Divergence::reverse : Divergence::mixed, beta.origin};
}

// training_step: what the student or the teacher generates takes the rows' place.
void note_generation(const Inputs& inputs, Draft& draft) {
  const auto share = given<double>(inputs, "lmbda", "number");
  const auto sequences = given<bool>(inputs, "seq_kd", "argparse_boolean");
  if (!share.value) {
    gap("generation by the student, of which GKDConfig's default of lmbda (0.5) asks for half of the batches,", "lmbda",
        draft.plan.recipe.trainer.origin, draft);
  } else if (*share.value != 0.0) {
    gap("generation by the student, which lmbda: 0 does without,", "lmbda", share.origin, draft);
  }
  if (is(sequences, true)) gap("generation by the teacher", "seq_kd", sequences.origin, draft);
}

/// The dtype among the arguments that the teacher is loaded with; of others nobody knows what they change.
void plan_teacher_dtype(const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  plan.model.teacher_dtype = plan.precision.weights_dtype;
  derive(plan.model.teacher_dtype.origin,
         "as " + stack.origin("trl", "examples/scripts/gkd.py").source + " loads both models");
  for (const Input& input : inputs) {
    if (!input.key.starts_with("teacher_model_init_kwargs")) continue;
    const Node& kwargs = *input.value;
    if (kwargs.kind == Node::Kind::null) continue;
    const Node* dtype = kwargs.is_mapping() && kwargs.entries.size() == 1 ? kwargs.find("dtype") : nullptr;
    const auto value = dtype == nullptr ? std::nullopt : find_codec("load_dtype")->read(*dtype);
    if (!value) {
      gap("a teacher that is loaded otherwise", input.key, origin_of(input), draft);
      continue;
    }
    plan.model.teacher_dtype = {static_cast<WeightsDType>(std::get<std::int64_t>(*value)), origin_of(input)};
  }
}

void check_share(const Inputs& inputs, std::string_view key, Draft& draft) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end()) return;
  const auto value = given<double>(inputs, key, "number").value;
  if (!value || *value < 0.0 || *value > 1.0) draft.errors.push_back(bad_value(*found, "a number from 0 to 1", {}));
}

void check_flag(const Inputs& inputs, std::string_view key, Draft& draft) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  if (found == inputs.end() || given<bool>(inputs, key, "argparse_boolean").value) return;
  draft.errors.push_back(bad_value(*found, find_codec("argparse_boolean")->expected, {}));
}

}  // namespace

void plan_distillation(const Arguments& hf, const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  if (const auto teacher = given<std::string>(inputs, "teacher_model_name_or_path", "text"); teacher.value)
    plan.model.teacher = {*teacher.value, teacher.origin};
  plan_teacher_dtype(inputs, stack, draft);
  plan.recipe.divergence = divergence_of(inputs, stack);
  plan.recipe.loss = {Loss::full_logits, stack.origin("trl", "GKDTrainer, which is given both models' logits")};
  plan.batch.completion_length = {0, assumed("all of the longest row but its first token may be a completion")};
  note_generation(inputs, draft);
  if (const auto multiple = hf.get<std::int64_t>("pad_to_multiple_of"); multiple.value.value_or(1) > 1)
    gap("rows padded to a multiple, which this trainer's collator does not,", "pad_to_multiple_of", multiple.origin,
        draft);
}

void check_distillation(const Arguments& hf, const Inputs& inputs, Draft& draft, const Document& document) {
  for (const std::string_view key : {"lmbda", "beta"}) check_share(inputs, key, draft);
  for (const std::string_view key : {"seq_kd", "disable_dropout"}) check_flag(inputs, key, draft);
  if (draft.plan.model.teacher.value.empty()) {
    miss(draft, document, "teacher", {"teacher_model_name_or_path"},
         "teacher_model_name_or_path is not given, without which GKDTrainer has no teacher",
         "add teacher_model_name_or_path: … or --set teacher=…");
  }
  const bool wrapped = is(hf.get<std::string>("packing_strategy"), std::string("wrapped"));
  for (const std::string_view key : {"padding_free", "packing"}) {
    const auto asked = hf.get<bool>(key);
    if (!is(asked, true) || (key == "packing" && wrapped)) continue;
    conflict(draft, asked.origin, document,
             std::string(key) + ": TRL's GKDTrainer has a collator of its own, which SFTTrainer refuses beside it");
  }
}

}  // namespace oomplan::ingestion::hf
