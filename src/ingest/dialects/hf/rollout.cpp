#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "derive.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::ingestion::hf {
namespace {

constexpr std::int64_t usual_completion = 512;
constexpr std::int64_t usual_generations = 8;

template <class T>
Arg<T> given(const Inputs& inputs, std::string_view key) {
  constexpr std::string_view codec = std::is_same_v<T, bool>           ? "argparse_boolean"
                                     : std::is_same_v<T, std::int64_t> ? "positive"
                                                                       : "text";
  return hf::given<T>(inputs, key, codec);
}

Origin at_key(const Inputs& inputs, std::string_view key, const Origin& otherwise) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  return found == inputs.end() ? otherwise : origin_of(*found);
}

void gap(std::string_view feature, std::string_view key, const Origin& at, Draft& draft) {
  draft.plan.unmodelled.push_back({std::string(feature), std::string(key), at.where});
}

/// What a beta of 0, the default, goes without.
Setting<Reference> reference_of(const Inputs& inputs, const Stack& stack, const TrainingPlan& plan) {
  const auto found = std::ranges::find(inputs, std::string_view("beta"), &Input::key);
  const std::optional<double> beta =
      found == inputs.end() ? std::optional(0.0) : parse_number(std::string_view(found->value->text));
  if (beta == 0.0) return {Reference::none, at_key(inputs, "beta", stack.origin("trl", "GRPOConfig, whose beta is 0"))};
  if (plan.adapter.kind.value == Adapter::none) return {Reference::model, origin_of(*found)};
  Setting<Reference> out{Reference::adapter_off, plan.adapter.kind.origin};
  derive(out.origin, "so that the policy without it is the reference");
  return out;
}

/// Micro-batches of a rollout, of which generation_batch_size says the rows.
Setting<std::int64_t> batches_of(const Inputs& inputs, const Stack& stack, const TrainingPlan& plan) {
  const auto steps = given<std::int64_t>(inputs, "steps_per_generation");
  const auto rows = given<std::int64_t>(inputs, "generation_batch_size");
  const std::int64_t a_step = saturating_mul(plan.batch.micro_batch_size.value, plan.mesh.world_size.value);
  if (steps.value) return {*steps.value, steps.origin};
  if (rows.value && a_step > 0) return {*rows.value / a_step, rows.origin};
  return {0, stack.origin("trl", "GRPOConfig, whose rollout is for one step")};
}

std::int64_t number_of(const Setting<std::int64_t>& batches, const TrainingPlan& plan) {
  return batches.value > 0 ? batches.value : plan.batch.gradient_accumulation_steps.value;
}

/// Whether the policy scores a rollout before its steps: where the sampler's own scores are to be corrected, or where
/// the policy is no longer the one that it came from.
Setting<bool> scored_before(const Inputs& inputs, const Stack& stack, const TrainingPlan& plan) {
  const auto corrects = given<bool>(inputs, "vllm_importance_sampling_correction");
  if (corrects.value.value_or(true))
    return {true,
            corrects.value ? corrects.origin : stack.origin("trl", "GRPOConfig, which corrects what vLLM samples")};
  const std::int64_t every = saturating_mul(number_of(plan.recipe.rollout_batches, plan),
                                            given<std::int64_t>(inputs, "num_iterations").value.value_or(1));
  return {plan.batch.gradient_accumulation_steps.value % std::max<std::int64_t>(every, 1) != 0, corrects.origin};
}

void note_generation(const Inputs& inputs, Draft& draft) {
  const auto vllm = given<bool>(inputs, "use_vllm");
  const auto mode = given<std::string>(inputs, "vllm_mode");
  const Origin& trainer = draft.plan.recipe.trainer.origin;
  if (!vllm.value.value_or(false)) {
    return gap("generation by transformers", vllm.value ? "use_vllm" : "trainer", vllm.value ? vllm.origin : trainer,
               draft);
  }
  if (mode.value.value_or("colocate") == "server") return;
  gap("vLLM on the GPU that trains", mode.value ? "vllm_mode" : "use_vllm", at_key(inputs, "vllm_mode", vllm.origin),
      draft);
}

/// What `given` cannot read: the values that a key may have are none of its own.
void check_values(const Inputs& inputs, Draft& draft) {
  constexpr auto numbers = std::to_array<std::string_view>(
      {"generation_batch_size", "max_completion_length", "num_generations", "num_iterations", "steps_per_generation"});
  constexpr auto flags =
      std::to_array<std::string_view>({"cast_lm_head_to_fp32", "disable_dropout", "log_completions", "sync_ref_model",
                                       "use_vllm", "vllm_importance_sampling_correction"});
  constexpr auto modes =
      std::to_array<std::string_view>({"sequence_mask", "sequence_truncate", "token_mask", "token_truncate"});
  const auto refuse = [&](const Input& input, std::string_view expected, std::span<const std::string_view> choices) {
    draft.errors.push_back(bad_value(input, expected, choices));
  };
  for (const Input& input : inputs) {
    if (input.value->kind == Node::Kind::null) continue;
    const bool number = std::ranges::count(numbers, input.key) > 0;
    if (number || std::ranges::count(flags, input.key) > 0) {
      const ValueCodec* codec = find_codec(number ? "positive" : "argparse_boolean");
      if (!codec->read(*input.value)) refuse(input, codec->expected, {});
    }
    if (input.key == "beta" && !find_codec("number")->read(*input.value)) refuse(input, "a number", {});
    if (input.key == "vllm_importance_sampling_mode" && std::ranges::count(modes, input.value->text) == 0)
      refuse(input, "one of sequence_mask, sequence_truncate, token_mask, token_truncate", modes);
  }
}

}  // namespace

void plan_rollouts(const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const Origin usual = stack.origin("trl", "GRPOConfig");
  const auto completion = given<std::int64_t>(inputs, "max_completion_length");
  plan.batch.completion_length = {completion.value.value_or(usual_completion),
                                  completion.value ? completion.origin : usual};
  plan.batch.sequence_length.value = 0;
  plan.batch.padding_mask = {true, assumed("prompts and completions differ in length and are padded")};
  plan.recipe.reference = reference_of(inputs, stack, plan);
  plan.recipe.rollout_batches = batches_of(inputs, stack, plan);
  plan.recipe.second_term = scored_before(inputs, stack, plan);
  note_generation(inputs, draft);
  if (const auto multiple = given<std::int64_t>(inputs, "pad_to_multiple_of"); multiple.value.value_or(1) > 1)
    gap("prompts and completions padded to a multiple", "pad_to_multiple_of", multiple.origin, draft);
}

void check_rollouts(const Arguments& /*hf*/, const Inputs& inputs, Draft& draft, const Document& document) {
  const TrainingPlan& plan = draft.plan;
  check_values(inputs, draft);
  const auto refuse = [&](const Origin& at, std::string why) { conflict(draft, at, document, std::move(why)); };
  const auto steps = given<std::int64_t>(inputs, "steps_per_generation");
  const auto rows = given<std::int64_t>(inputs, "generation_batch_size");
  const Origin& batch = plan.batch.micro_batch_size.origin;
  const std::int64_t a_step = saturating_mul(plan.batch.micro_batch_size.value, plan.mesh.world_size.value);
  for (const Input& input : inputs) {
    if (input.key != "max_length" && input.key != "max_prompt_length") continue;
    refuse(origin_of(input), input.key + ": TRL's GRPOConfig has no such argument");
  }
  if (steps.value && rows.value) {
    refuse(rows.origin, "generation_batch_size: TRL's GRPOConfig refuses it beside steps_per_generation");
  } else if (rows.value && a_step > 0 && *rows.value % a_step != 0) {
    refuse(rows.origin, "generation_batch_size: TRL's GRPOConfig wants a multiple of the batches of all GPUs");
  }
  if (const auto finds = given<bool>(inputs, "auto_find_batch_size"); is(finds, true))
    refuse(finds.origin, "auto_find_batch_size: TRL's GRPOConfig refuses it, since a rollout has whole groups");
  if (const auto repository = given<std::string>(inputs, "log_completions_hub_repo");
      repository.value && !is(given<bool>(inputs, "log_completions"), true))
    refuse(repository.origin, "log_completions_hub_repo: TRL's GRPOConfig wants log_completions beside it");
  const auto each = given<std::int64_t>(inputs, "num_generations");
  const std::int64_t generations = each.value.value_or(usual_generations);
  if (generations < 2) refuse(each.origin, "num_generations: TRL's GRPOConfig wants at least 2");
  const std::int64_t rollout = saturating_mul(a_step, number_of(plan.recipe.rollout_batches, plan));
  if (generations >= 2 && rollout % generations != 0) {
    refuse(each.value ? each.origin : batch,
           "num_generations: TRL's GRPOConfig wants a rollout to be a multiple of it: " + std::to_string(rollout) +
               " rows are none of " + std::to_string(generations));
  }
}

}  // namespace oomplan::ingestion::hf
