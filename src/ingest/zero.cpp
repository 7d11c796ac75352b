#include "zero.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "condition.hpp"
#include "sharding_keys.hpp"

namespace oomplan::ingestion {
namespace {

void note(const AskedZero& asked, std::string feature, const std::string& key, const Origin& at) {
  asked.draft.plan.unmodelled.push_back({std::move(feature), key, at.where});
}

void plan_stage(const AskedZero& asked, const Arg<std::int64_t>& stage, std::int64_t otherwise) {
  constexpr std::array stages{Sharding::zero1, Sharding::zero2, Sharding::zero3};
  const std::int64_t number = stage.value.value_or(otherwise);
  const Origin& origin = stage.value ? stage.origin : asked.origin;
  if (number < 1) return note(asked, "DeepSpeed without ZeRO", "zero_optimization.stage", origin);
  if (number > 3) return conflict(asked.draft, origin, asked.document, "DeepSpeed has no stage beyond 3");
  asked.said.mesh.sharding = {stages.at(static_cast<std::size_t>(number - 1)), origin};
}

/// overlap_comm is on by default at stage 3 alone.
void plan_overlap(const AskedZero& asked) {
  Setting<bool>& overlap = asked.said.mesh.zero_overlap;
  if (asked.said.mesh.sharding.value == Sharding::zero3 && overlap.origin.kind != Origin::Kind::config) {
    overlap = {true, {.kind = Origin::Kind::config, .source = asked.origin.source, .where = asked.origin.where}};
    derive(overlap.origin, "of stage 3");
  }
}

// deepspeed/runtime/zero/offload_config.py: OffloadDeviceEnum.
void offload(const AskedZero& asked, Setting<bool>& fact, const Arg<std::string>& device, const Arg<bool>& old) {
  constexpr std::array<std::string_view, 3> devices{"none", "cpu", "nvme"};
  if (device.value && std::ranges::count(devices, *device.value) == 0) {
    conflict(asked.draft, device.origin, asked.document,
             "DeepSpeed offloads to cpu, nvme or none, not to " + *device.value);
  }
  if (device.value) fact = {*device.value != "none", device.origin};
  if (!device.value && old.value) fact = {*old.value, old.origin};
}

// transformers/integrations/deepspeed.py: trainer_config_process.
void check_number(const AskedZero& asked, const Arg<std::int64_t>& arg, std::string_view key,
                  const Setting<std::int64_t>& own, std::string_view name) {
  if (!arg.value || *arg.value == by_hidden_size || *arg.value == own.value) return;
  conflict(asked.draft, arg.origin, asked.document,
           "transformers' Trainer refuses " + std::string(key) + " " + std::to_string(*arg.value) + " beside " +
               std::string(name) + " " + std::to_string(own.value) + "; auto takes that");
}

/// accelerate looks for offload_optimizer alone before it puts DeepSpeed's optimizer in the place of the trainer's,
/// which DeepSpeed refuses otherwise (accelerator.py: _prepare_deepspeed; deepspeed/runtime/engine.py:
/// _configure_optimizer).
void check_old_offload(const AskedZero& asked, const Arguments& json) {
  const auto old = json.get<bool>("zero_optimization.cpu_offload");
  const bool own = json.get<std::string>("optimizer.type").value.has_value();
  const bool named = json.get<std::string>("zero_optimization.offload_optimizer.device").value.has_value();
  if (!is(old, true) || own || named || is(json.get<bool>("zero_force_ds_cpu_optimizer"), false)) return;
  conflict(asked.draft, old.origin, asked.document,
           "DeepSpeed refuses the trainer's optimizer beside cpu_offload; offload_optimizer: {device: cpu} is what "
           "accelerate looks for");
}

/// transformers' Trainer hands DeepSpeed the parameters as they are, in one group.
void plan_optimizer(const AskedZero& asked, const Arguments& json) {
  const auto type = json.get<std::string>("optimizer.type");
  if (!type.value) return;
  const auto of_torch = json.get<bool>("optimizer.params.torch_adam");
  Origin origin = type.origin;
  derive(origin, of_torch.value.value_or(false) ? "as torch has it" : "as DeepSpeed's FusedAdam has it");
  asked.draft.plan.optimizer.name = {of_torch.value.value_or(false) ? "adamw_foreach" : "adamw_fused", origin};
  asked.said.mesh.zero_decay_groups = {false, type.origin};
}

/// Its section forbids what it does not know (deepspeed/runtime/config_utils.py: DeepSpeedConfigModel).
void refuse_unknown(Findings& findings) {
  for (auto at = findings.warnings.begin(); at != findings.warnings.end();) {
    const bool refused =
        at->code == "ingest/unknown-key" && at->message.find("\"zero_optimization.") != std::string::npos;
    if (!refused) {
      ++at;
      continue;
    }
    at->severity = Severity::error;
    at->code = "ingest/refused";
    const std::size_t end = at->message.rfind(", ignored");
    if (end != std::string::npos) at->message.replace(end, std::string::npos, ", which DeepSpeed refuses");
    findings.errors.push_back(std::move(*at));
    at = findings.warnings.erase(at);
    --findings.unknown_keys;
  }
}

std::optional<double> number_of(const Input* input) {
  return input == nullptr ? std::nullopt : input->value->as_number();
}

/// What asks for evaluation after the first step; null where nothing does (transformers/training_args.py:
/// __post_init__; trainer_callback.py: DefaultFlowCallback). Axolotl takes eval_steps for the strategy where it is not
/// given.
const Input* after_first_step(const Inputs& inputs, bool steps_by_default) {
  const Input* strategy = find_input(inputs, "eval_strategy");
  const bool steps = strategy == nullptr ? steps_by_default : strategy->value->text == "steps";
  if (!steps || number_of(find_input(inputs, "eval_delay")).value_or(0) > 1) return nullptr;
  const Input* every = find_input(inputs, "eval_steps");
  if (number_of(every).value_or(0) == 0 && !steps_by_default) every = find_input(inputs, "logging_steps");
  return number_of(every) == 1.0 ? every : nullptr;
}

}  // namespace

void plan_zero(const AskedZero& asked, const Document& document, const Node& mapping) {
  Findings findings;
  const Arguments json = read_within("deepspeed", inputs_of(document, mapping), {}, findings);
  refuse_unknown(findings);
  take(asked.draft, std::move(findings));
  if (const Node* zero = mapping.find("zero_optimization"); zero == nullptr || !zero->is_mapping()) {
    return note(asked, "DeepSpeed without ZeRO", "zero_optimization", asked.origin);
  }
  json.set_facts(asked.said);
  plan_stage(asked, json.get<std::int64_t>("zero_optimization.stage"), 0);
  plan_overlap(asked);
  MeshFacts& mesh = asked.said.mesh;
  offload(asked, mesh.zero_offload_optimizer, json.get<std::string>("zero_optimization.offload_optimizer.device"),
          json.get<bool>("zero_optimization.cpu_offload"));
  offload(asked, mesh.zero_offload_params, json.get<std::string>("zero_optimization.offload_param.device"),
          json.get<bool>("zero_optimization.cpu_offload_param"));
  check_old_offload(asked, json);
  plan_optimizer(asked, json);
  asked.draft.zero_bf16 = json.get<Choice>("bf16.enabled");
  asked.draft.zero_fp16 = json.get<Choice>("fp16.enabled");
  asked.draft.zero_batch = json.get<std::int64_t>("train_batch_size");
  // A section that does not say is off; where there is none, accelerate adds it.
  for (auto& [section, choice] :
       {std::pair{"bf16", &asked.draft.zero_bf16}, std::pair{"fp16", &asked.draft.zero_fp16}}) {
    const Choice otherwise = mapping.find(section) == nullptr ? Choice::automatic : Choice::off;
    if (!choice->value) *choice = {otherwise, asked.origin};
  }
  const BatchFacts& batch = asked.draft.plan.batch;
  check_number(asked, json.get<std::int64_t>("gradient_accumulation_steps"), "gradient_accumulation_steps",
               batch.gradient_accumulation_steps, "its own of");
  check_number(asked, json.get<std::int64_t>("train_micro_batch_size_per_gpu"), "train_micro_batch_size_per_gpu",
               batch.micro_batch_size, "a batch of");
}

void plan_zero_plugin(const AskedZero& asked, const Node* config) {
  static const Node nothing{};
  const Node& mapping = config == nullptr ? nothing : *config;
  Findings findings;
  const Arguments plugin =
      read_within("deepspeed_plugin", inputs_of(asked.document, mapping), "deepspeed_config.", findings);
  take(asked.draft, std::move(findings));
  plan_stage(asked, plugin.get<std::int64_t>("zero_stage"), 2);
  asked.draft.zero_bf16 = asked.draft.zero_fp16 = {Choice::automatic, asked.origin};
  plan_overlap(asked);
  offload(asked, asked.said.mesh.zero_offload_optimizer, plugin.get<std::string>("offload_optimizer_device"), {});
  offload(asked, asked.said.mesh.zero_offload_params, plugin.get<std::string>("offload_param_device"), {});
  give(asked.said.mesh.zero_gathers_to_save, plugin.get<bool>("zero3_save_16bit_model"));
  check_number(asked, plugin.get<std::int64_t>("gradient_accumulation_steps"), "gradient_accumulation_steps",
               asked.draft.plan.batch.gradient_accumulation_steps, "its own of");
}

void note_early_evaluation(const Inputs& inputs, Draft& draft) {
  const TrainingPlan& plan = draft.plan;
  if (plan.mesh.sharding.value != Sharding::zero3 || !plan.evaluation.evaluates.value || !draft.errors.empty()) return;
  const Input* at_start = find_input(inputs, "eval_on_start");
  const bool starts = at_start != nullptr && is_truthy(*at_start->value);
  const Input* early = starts ? at_start : after_first_step(inputs, plan.dialect == "axolotl");
  if (early == nullptr) return;
  draft.plan.unmodelled.push_back(
      {"evaluation before the second step at DeepSpeed's stage 3", early->key, origin_of(*early).where});
}

// transformers/integrations/deepspeed.py: trainer_config_process.
void check_zero_world(Draft& draft, const Document& config) {
  const TrainingPlan& plan = draft.plan;
  if (!is_zero(plan.mesh.sharding.value) || !draft.zero_bf16.value) return;
  need_world(draft, config, "DeepSpeed");
  const Arg<std::int64_t>& said = draft.zero_batch;
  if (!said.value || *said.value == by_hidden_size) return;
  const std::int64_t steps = plan.batch.gradient_accumulation_steps.value;
  const std::int64_t rows =
      saturating_mul(saturating_mul(plan.batch.micro_batch_size.value, steps), plan.mesh.world_size.value);
  if (*said.value == rows) return;
  conflict(draft, said.origin, config,
           "transformers' Trainer refuses train_batch_size " + std::to_string(*said.value) +
               " where batch, accumulation and GPUs make " + std::to_string(rows) + "; auto takes that");
}

void plan_zero_precision(Draft& draft, const Document& config) {
  TrainingPlan& plan = draft.plan;
  // The plain form says what it says.
  if (!draft.zero_bf16.value || !is_zero(plan.mesh.sharding.value)) return;
  Setting<Autocast>& autocast = plan.precision.autocast;
  const auto takes = [&](const Arg<Choice>& asked, Autocast own, std::string_view name) {
    const bool on = autocast.value == own;
    if (!asked.value || *asked.value == Choice::automatic || (*asked.value == Choice::on) == on) return on;
    conflict(draft, asked.origin, config,
             std::string(name) + ".enabled is " + (on ? "false" : "true") + " and " + std::string(name) +
                 " of the trainer is not, which transformers' Trainer refuses; auto takes that");
    return on;
  };
  const bool bf16 = takes(draft.zero_bf16, Autocast::bf16, "bf16");
  const bool fp16 = takes(draft.zero_fp16, Autocast::fp16, "fp16");
  if ((bf16 || fp16) && !plan.mesh.zero_dtype.origin.is_said())
    plan.mesh.zero_dtype = {bf16 ? MixedDType::bf16 : MixedDType::fp16, autocast.origin};
  autocast.value = Autocast::none;
  plan.precision.backward_in_autocast.value = false;
  plan.precision.outputs_to_fp32.value = false;
}

}  // namespace oomplan::ingestion
