#include "oomplan/plan/rollout.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <span>
#include <type_traits>

#include "../../condition.hpp"
#include "../../versions.hpp"
#include "derive.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::ingestion::hf {
namespace {

constexpr std::int64_t usual_completion = 512;
constexpr const char* usual_mode = "colocate";
constexpr double usual_share = 0.3;
constexpr std::string_view share_key = "vllm_gpu_memory_utilization";

/// What differs between the trainers that learn from rollouts.
struct Rollouts {
  std::string_view trainer;
  std::string_view config;
  double beta;               ///< Where nothing says it,
  std::int64_t generations;  ///< … and of each prompt.
  bool always_scored;        ///< By the policy, before a rollout's steps.
};
constexpr auto all_rollouts =
    std::to_array<Rollouts>({{"grpo", "GRPOConfig", 0.0, 8, false}, {"rloo", "RLOOConfig", 0.05, 2, true}});

const Rollouts& rollouts_of(const TrainingPlan& plan) {
  const auto* found = std::ranges::find(all_rollouts, plan.recipe.trainer.value, &Rollouts::trainer);
  assert(found != all_rollouts.end());
  return *found;
}

/// "TRL's GRPOConfig".
std::string config_of(const TrainingPlan& plan) { return "TRL's " + std::string(rollouts_of(plan).config); }

Origin usual(const Stack& stack, const TrainingPlan& plan, std::string_view what = "") {
  return stack.origin("trl", std::string(rollouts_of(plan).config) + std::string(what));
}

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

/// What a beta of 0 goes without.
Setting<Reference> reference_of(const Inputs& inputs, const Stack& stack, const TrainingPlan& plan) {
  const auto found = std::ranges::find(inputs, std::string_view("beta"), &Input::key);
  const std::optional<double> beta = found == inputs.end() ? std::optional(rollouts_of(plan).beta)
                                                           : parse_number(std::string_view(found->value->text));
  const Origin said = at_key(inputs, "beta", usual(stack, plan, beta == 0.0 ? ", whose beta is 0" : ", by its beta"));
  if (beta == 0.0) return {Reference::none, said};
  if (plan.adapter.kind.value == Adapter::none) return {Reference::model, said};
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
  return {0, usual(stack, plan, ", whose rollout is for one step")};
}

/// Whether the policy scores a rollout before its steps: where vLLM's own scores are to be corrected, or where the
/// policy is no longer the one that it came from.
Setting<bool> scored_before(const Inputs& inputs, const Stack& stack, const TrainingPlan& plan) {
  if (rollouts_of(plan).always_scored) return {true, usual(stack, plan, ", whose policy scores each rollout")};
  const auto corrects = given<bool>(inputs, "vllm_importance_sampling_correction");
  if (plan.recipe.generation.value != Generation::transformers && corrects.value.value_or(true))
    return {true, corrects.value ? corrects.origin : usual(stack, plan, ", which corrects what vLLM samples")};
  const bool steps_between = plan.batch.gradient_accumulation_steps.value % trained_on_rollout(plan) != 0;
  return {steps_between, corrects.value ? corrects.origin : usual(stack, plan, ", by the steps of a rollout")};
}

/// Numbers at which nothing is done to the scores. Where nothing is said, top_k is 50 by GenerationConfig.
bool does_nothing(const Input& input) {
  constexpr auto neutral = std::to_array<std::pair<std::string_view, double>>(
      {{"repetition_penalty", 1.0}, {"temperature", 1.0}, {"top_k", 0.0}, {"top_p", 1.0}});
  const auto found = std::ranges::find(neutral, input.key, &std::pair<std::string_view, double>::first);
  const auto said = input.value->as_number();
  if (input.value->kind == Node::Kind::null) return input.key != "top_k";
  return found != neutral.end() && said && *said == found->second;
}

Setting<std::vector<std::string>> sampling_of(const Inputs& inputs, const Stack& stack, const TrainingPlan& plan) {
  Setting<std::vector<std::string>> out{{}, usual(stack, plan, ", which samples from all scores")};
  for (const std::string_view name : sampling_names) {
    const auto found = std::ranges::find(inputs, name, &Input::key);
    if (found == inputs.end() || does_nothing(*found)) continue;
    if (out.value.empty()) out.origin = origin_of(*found);
    out.value.emplace_back(name);
  }
  return out;
}

void plan_generation(const Inputs& inputs, const Stack& stack, const Arg<bool>& vllm, Draft& draft) {
  const Origin at = vllm.value ? vllm.origin : usual(stack, draft.plan, ", by transformers' generate()");
  draft.plan.recipe.generation = {Generation::transformers, at};
  draft.plan.recipe.sampling = sampling_of(inputs, stack, draft.plan);
  for (const std::string_view key : {"cache_implementation", "generation_kwargs",
                                     "use_transformers_continuous_batching", "use_transformers_paged"}) {
    const auto found = std::ranges::find(inputs, key, &Input::key);
    if (found == inputs.end() || found->value->kind == Node::Kind::null) continue;
    if (found->value->as_boolean() == false) continue;
    gap("generation in another way", key, origin_of(*found), draft);
  }
  const std::string version = framework_version(draft.plan, "transformers");
  const bool measured = !is_older(version, "5.23") && is_older(version, "5.24");
  if (!measured) gap("generate() of transformers " + version, "trainer", draft.plan.recipe.trainer.origin, draft);
}

/// trl/generation/vllm_generation.py: VLLMGeneration._init_vllm.
void plan_colocated(const Inputs& inputs, const Stack& stack, const Origin& at, Draft& draft) {
  RecipeFacts& recipe = draft.plan.recipe;
  const Origin of_config = usual(stack, draft.plan);
  recipe.generation = {Generation::vllm, at};
  const auto share = hf::given<double>(inputs, share_key, "number");
  recipe.vllm_share = {share.value.value_or(usual_share), share.value ? share.origin : of_config};
  const auto sleeps = given<bool>(inputs, "vllm_enable_sleep_mode");
  recipe.vllm_sleeps = {sleeps.value.value_or(false), sleeps.value ? sleeps.origin : of_config};
  if (const auto ranks = given<std::int64_t>(inputs, "vllm_tensor_parallel_size"); ranks.value.value_or(1) > 1)
    gap("vLLM over more than one GPU", "vllm_tensor_parallel_size", ranks.origin, draft);
}

void note_generation(const Inputs& inputs, const Stack& stack, Draft& draft) {
  const auto vllm = given<bool>(inputs, "use_vllm");
  const auto mode = given<std::string>(inputs, "vllm_mode");
  if (!vllm.value.value_or(false)) return plan_generation(inputs, stack, vllm, draft);
  const auto more = std::ranges::find(inputs, std::string_view("generation_kwargs"), &Input::key);
  if (more != inputs.end() && more->value->kind != Node::Kind::null)
    gap("generation in another way", "generation_kwargs", origin_of(*more), draft);
  if (mode.value.value_or(usual_mode) == "server") return;
  plan_colocated(inputs, stack, at_key(inputs, "vllm_mode", vllm.origin), draft);
}

/// What transformers' processors of scores take (generation/logits_process.py).
struct Range {
  std::string_view key;
  double least;
  bool above;  ///< And not the least itself.
  double most;
  std::string_view expected;
};
constexpr double any_more = std::numeric_limits<double>::max();
constexpr auto ranges = std::to_array<Range>({{"temperature", 0, true, any_more, "a number above 0"},
                                              {"repetition_penalty", 0, true, any_more, "a number above 0"},
                                              {"top_k", 0, false, any_more, "an integer, 0 or more"},
                                              {"top_p", 0, false, 1, "a number from 0 to 1"},
                                              {"min_p", 0, false, 1, "a number from 0 to 1"},
                                              {share_key, 0, true, 1, "a number above 0 and at most 1"}});

/// The range that the input's number is not in; null: none.
const Range* range_left(const Input& input) {
  const auto* range = std::ranges::find(ranges, input.key, &Range::key);
  const auto said = input.value->as_number();
  if (range == ranges.end() || !said) return nullptr;
  const bool inside = *said <= range->most && (range->above ? *said > range->least : *said >= range->least);
  return inside ? nullptr : range;
}

/// What `given` cannot read: the values that a key may have are none of its own.
void check_values(const Inputs& inputs, Draft& draft) {
  constexpr auto numbers = std::to_array<std::string_view>(
      {"generation_batch_size", "max_completion_length", "num_generations", "num_generations_eval", "num_iterations",
       "steps_per_generation", "vllm_max_model_length", "vllm_tensor_parallel_size"});
  constexpr auto flags =
      std::to_array<std::string_view>({"cast_lm_head_to_fp32", "disable_dropout", "log_completions", "sync_ref_model",
                                       "use_vllm", "vllm_enable_sleep_mode", "vllm_importance_sampling_correction"});
  constexpr auto modes =
      std::to_array<std::string_view>({"sequence_mask", "sequence_truncate", "token_mask", "token_truncate"});
  constexpr auto places = std::to_array<std::string_view>({"colocate", "server"});
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
    const bool measure =
        input.key == "beta" || input.key == share_key || std::ranges::count(sampling_names, input.key) > 0;
    if (measure && !find_codec("number")->read(*input.value)) refuse(input, "a number", {});
    if (const Range* range = range_left(input); range != nullptr) refuse(input, range->expected, {});
    if (input.key == "vllm_importance_sampling_mode" && std::ranges::count(modes, input.value->text) == 0)
      refuse(input, "one of sequence_mask, sequence_truncate, token_mask, token_truncate", modes);
    if (input.key == "vllm_mode" && std::ranges::count(places, input.value->text) == 0)
      refuse(input, "one of colocate, server", places);
  }
}

}  // namespace

void plan_rollouts(const Inputs& inputs, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const auto completion = given<std::int64_t>(inputs, "max_completion_length");
  plan.batch.completion_length = {completion.value.value_or(usual_completion),
                                  completion.value ? completion.origin : usual(stack, plan)};
  plan.batch.sequence_length.value = 0;
  plan.batch.padding_mask = {true, assumed("prompts and completions differ in length and are padded")};
  plan.recipe.reference = reference_of(inputs, stack, plan);
  plan.recipe.rollout_batches = batches_of(inputs, stack, plan);
  const auto iterations = given<std::int64_t>(inputs, "num_iterations");
  plan.recipe.rollout_iterations = {iterations.value.value_or(1),
                                    iterations.value ? iterations.origin : usual(stack, plan)};
  note_generation(inputs, stack, draft);
  plan.recipe.second_term = scored_before(inputs, stack, plan);
  if (const auto rewards = given<std::string>(inputs, "reward_model_name_or_path"); rewards.value)
    gap("a model of rewards on the GPU", "reward_model_name_or_path", rewards.origin, draft);
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
    refuse(origin_of(input), input.key + ": " + config_of(plan) + " has no such argument");
  }
  if (const Node* rewards = find_value(inputs, "reward_funcs"); rewards != nullptr) {
    const auto is_hub_id = [](const std::string& text) { return text.find('/') != std::string::npos; };
    if (is_hub_id(rewards->text) || std::ranges::any_of(rewards->items, is_hub_id, &Node::text)) {
      refuse(at_key(inputs, "reward_funcs", batch),
             "reward_funcs: TRL's script imports each by its name in Python; a model of rewards is "
             "reward_model_name_or_path");
    }
  }
  if (steps.value && rows.value) {
    refuse(rows.origin, "generation_batch_size: " + config_of(plan) + " refuses it beside steps_per_generation");
  } else if (rows.value && a_step > 0 && *rows.value % a_step != 0) {
    refuse(rows.origin, "generation_batch_size: " + config_of(plan) + " wants a multiple of the batches of all GPUs");
  }
  if (const auto finds = given<bool>(inputs, "auto_find_batch_size"); is(finds, true))
    refuse(finds.origin, "auto_find_batch_size: " + config_of(plan) + " refuses it, since a rollout has whole groups");
  if (plan.recipe.generation.value == Generation::vllm && plan.quantization.kind.value == Quantization::int8)
    refuse(plan.recipe.generation.origin, "use_vllm: TRL stops at weights in 8 bits where vLLM is on the same GPU");
  if (const auto repository = given<std::string>(inputs, "log_completions_hub_repo");
      repository.value && !is(given<bool>(inputs, "log_completions"), true))
    refuse(repository.origin, "log_completions_hub_repo: " + config_of(plan) + " wants log_completions beside it");
  const auto each = given<std::int64_t>(inputs, "num_generations");
  const std::int64_t generations = each.value.value_or(rollouts_of(plan).generations);
  if (generations < 2) refuse(each.origin, "num_generations: " + config_of(plan) + " wants at least 2");
  const std::int64_t rollout = saturating_mul(a_step, batches_of_rollout(plan));
  if (generations >= 2 && rollout % generations != 0) {
    refuse(each.value ? each.origin : batch, "num_generations: " + config_of(plan) +
                                                 " wants a rollout to be a multiple of it: " + std::to_string(rollout) +
                                                 " rows are none of " + std::to_string(generations));
  }
  const auto evaluated = given<std::int64_t>(inputs, "num_generations_eval");
  const std::int64_t of_a_prompt = evaluated.value.value_or(generations);
  const std::int64_t at_once = saturating_mul(plan.evaluation.rows.value, plan.mesh.world_size.value);
  if (plan.evaluation.evaluates.value && of_a_prompt > 0 && at_once % of_a_prompt != 0) {
    refuse(plan.evaluation.rows.origin, "per_device_eval_batch_size: " + config_of(plan) +
                                            " wants the rows of an evaluation batch to be a multiple of the "
                                            "generations of a prompt: " +
                                            std::to_string(at_once) + " are none of " + std::to_string(of_a_prompt));
  }
}

}  // namespace oomplan::ingestion::hf
