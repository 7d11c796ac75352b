#include "rollouts.hpp"

#include <algorithm>
#include <string>

#include "oomplan/core/text.hpp"
#include "oomplan/plan/rollout.hpp"

namespace oomplan::ingestion::unsloth {
namespace {

void gap(Draft& draft, std::string feature, std::string_view key, const Origin& origin) {
  draft.plan.unmodelled.push_back({std::move(feature), std::string(key), origin.where});
}

void plan_engine(const Arguments& args, Draft& draft, const Origin& own) {
  RecipeFacts& recipe = draft.plan.recipe;
  const auto fast = args.get<bool>("from_pretrained.fast_inference");
  const auto sleeps = args.get<std::string>("environ.UNSLOTH_VLLM_STANDBY");
  recipe.generation = {Generation::vllm, fast.origin};
  recipe.vllm_sleeps = {sleeps.value.value_or("0") != "0", sleeps.value ? sleeps.origin : own};
  if (!is(fast, true)) {
    recipe.generation = {Generation::transformers, fast.value ? fast.origin : own};
    return gap(draft, "GRPO by Unsloth without vLLM on the same GPU", "trainer", recipe.trainer.origin);
  }
  if (!recipe.vllm_sleeps.value)
    return gap(draft, "vLLM that shares Unsloth's weights and does not sleep (UNSLOTH_VLLM_STANDBY)",
               "from_pretrained.fast_inference", fast.origin);
  draft.plan.runtime.alloc_conf = {"", sleeps.origin};  // Its allocator wants no expandable segments.
}

/// Its GRPOConfig: a batch that groups do not divide becomes one group.
void plan_batch(const Arguments& args, Draft& draft, const Origin& own) {
  BatchFacts& batch = draft.plan.batch;
  const auto each = setting(args.get<std::int64_t>("num_generations"), std::int64_t{8}, own);
  const auto steps = args.get<std::int64_t>("steps_per_generation");
  const auto rows = args.get<std::int64_t>("generation_batch_size");
  const std::int64_t a_step = saturating_mul(batch.gradient_accumulation_steps.value, batch.micro_batch_size.value);
  if (!steps.value && !rows.value && a_step % each.value != 0) {
    batch.micro_batch_size = each;
    derive(batch.micro_batch_size.origin, "which the batch becomes that is no multiple of it");
  }
  auto& rollout = draft.plan.recipe.rollout_batches;
  rollout = setting(steps, std::int64_t{0}, own);
  if (rows.value) gap(draft, "the rows of a rollout", "generation_batch_size", rows.origin);
}

void plan_lengths(const Arguments& args, const std::optional<Setting<std::int64_t>>& whole, Draft& draft,
                  const Document& document, const Origin& own) {
  BatchFacts& batch = draft.plan.batch;
  if (whole) {
    batch.sequence_length = *whole;
    derive(batch.sequence_length.origin, "which prompts and completions share");
    batch.completion_length = {whole->value - 1, assumed("what prompts leave of a row, which the data decide")};
    return;
  }
  const auto prompt = setting(args.get<std::int64_t>("max_prompt_length"), std::int64_t{512}, own);
  batch.completion_length = setting(args.get<std::int64_t>("max_completion_length"), std::int64_t{256}, own);
  if (prompt.value == 0) {
    return miss(draft, document, "sequence_length", {"max_prompt_length"},
                "max_prompt_length is None, so prompts are as long as the data has", "--set max_prompt_length=…");
  }
  batch.sequence_length = {saturating_add(prompt.value, batch.completion_length.value), prompt.origin};
  derive(batch.sequence_length.origin, "beside as many tokens as a completion may have");
}

void check_length(Draft& draft, std::int64_t loaded) {
  constexpr std::int64_t longest_measured = 4096;
  const Setting<std::int64_t>& length = draft.plan.batch.sequence_length;
  if (length.value > loaded) gap(draft, "rows that are longer than the model was loaded for", "trainer", length.origin);
  if (length.value > longest_measured)
    gap(draft, "GRPO by Unsloth with rows of more than 4096 tokens", "trainer", length.origin);
}

}  // namespace

std::optional<Setting<std::int64_t>> take_whole_rows(Inputs& inputs) {
  const auto completion = std::ranges::find(inputs, "max_completion_length", &Input::key);
  const auto prompt = std::ranges::find(inputs, "max_prompt_length", &Input::key);
  if (completion == inputs.end() || prompt == inputs.end()) return std::nullopt;
  const Node& left = *completion->value;
  const Node& taken = *prompt->value;
  if (left.kind != Node::Kind::expression || taken.kind != Node::Kind::expression || left.items.size() != 2)
    return std::nullopt;
  const auto all = parse_integer(left.items.front().text);
  if (!all || *all < 2 || left.items.back().text != taken.text) return std::nullopt;
  const Setting<std::int64_t> out{*all, origin_of(*completion)};
  std::erase_if(inputs, [](const Input& input) {
    return input.key == "max_completion_length" || input.key == "max_prompt_length";
  });
  return out;
}

void plan_rollouts(const Arguments& args, const std::optional<Setting<std::int64_t>>& whole, Draft& draft,
                   const Document& document, const Origin& own) {
  TrainingPlan& plan = draft.plan;
  const Origin& trainer = plan.recipe.trainer.origin;
  plan.recipe.trainer.value = "grpo";
  plan.recipe.kind = {RecipeKind::grpo, trainer};
  plan.recipe.loss = {Loss::chunked_logprob, trainer};
  plan.batch.joined = {0, trainer};
  plan_engine(args, draft, own);
  plan_batch(args, draft, own);
  const std::int64_t loaded = plan.batch.sequence_length.value;
  plan_lengths(args, whole, draft, document, own);
  check_length(draft, loaded);
  const auto beta = args.get<double>("beta");
  plan.recipe.reference = {beta.value == 0.0 ? Reference::none : Reference::adapter_off,
                           beta.value ? beta.origin : own};
  plan.recipe.second_term = {plan.batch.gradient_accumulation_steps.value % trained_on_rollout(plan) != 0, trainer};
  if (!plan.adapter.modules_to_save.value.empty())
    conflict(draft, plan.adapter.modules_to_save.origin, document,
             "fast_inference: Unsloth refuses it beside trained embeddings or heads");
  if (plan.evaluation.evaluates.value)
    gap(draft, "evaluation of rollouts", "eval_strategy", plan.evaluation.evaluates.origin);
}

}  // namespace oomplan::ingestion::unsloth
