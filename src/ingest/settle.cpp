// What a config leaves to the model.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "oomplan/ingest/ingest.hpp"
#include "stack.hpp"

namespace oomplan {
namespace {

// transformers 5.23.0: _supports_sdpa = False. Where no attention is asked for its loader then takes eager.
constexpr std::array<std::string_view, 1> without_sdpa{"gemma2"};

Diagnostic no_default(const std::string& model_type) {
  return {Severity::error,
          "ingest/missing-fact",
          "no LoRA targets are given, and oomplan knows no default of peft for " + model_type,
          {},
          "give the framework's key for target modules, or --set plan.lora_targets=[…]",
          {}};
}

Diagnostic no_sdpa(const std::string& model_type, const Origin& origin) {
  return {Severity::error,
          "ingest/conflict",
          "transformers has no sdpa attention for " + model_type + " and refuses to load it so",
          origin.where,
          "ask for eager or flash_attention_2; eager is what it takes where nothing is asked for",
          {}};
}

/// sdpa by default becomes what transformers falls back to.
Diagnostics settle_attention(Setting<Attention>& attention, const std::string& model_type) {
  if (attention.value != Attention::sdpa || std::ranges::count(without_sdpa, model_type) == 0) return {};
  const Origin::Kind kind = attention.origin.kind;
  if (kind == Origin::Kind::config || kind == Origin::Kind::command_line)
    return {no_sdpa(model_type, attention.origin)};
  attention = {Attention::eager,
               {Origin::Kind::framework_default, "transformers 5.23.0: " + model_type + " has no sdpa"}};
  return {};
}

constexpr std::string_view router_loss = "router_aux_loss_coef";

// transformers 5.23.0: configs that have output_router_logits, of those that are played.
constexpr std::array<std::string_view, 5> mixtures{"granitemoe", "mixtral", "olmoe", "qwen2_moe", "qwen3_moe"};

// trl 1.16.0: SFTTrainer.__init__ and DPOTrainer.__init__ switch the load-balancing loss of a mixture's router on,
// unless the coefficient is 0; which of the two a config says is not kept, so what it gives up is the answer.
void add_router_loss(TrainingPlan& plan, const std::string& model_type) {
  const bool trl = plan.framework.starts_with("trl ") && plan.recipe.trainer.value != "trainer";
  const bool said = std::ranges::count(plan.unmodelled, router_loss, &Unmodelled::key) > 0;
  if (!trl || said || std::ranges::count(mixtures, model_type) == 0) return;
  plan.unmodelled.push_back({"the load-balancing loss of a mixture's router, which TRL adds by default",
                             std::string(router_loss), plan.model.name.origin.where});
}

// trl 1.16.0: SFTTrainer.__init__ refuses a coefficient other than 0 where the model's config has no
// output_router_logits.
std::optional<Diagnostic> refused_by_dense(const TrainingPlan& plan, const std::string& model_type) {
  const auto found = std::ranges::find(plan.unmodelled, router_loss, &Unmodelled::key);
  if (found == plan.unmodelled.end() || plan.recipe.trainer.value != "sft") return std::nullopt;
  if (std::ranges::count(mixtures, model_type) > 0) return std::nullopt;
  return Diagnostic{Severity::error,
                    "ingest/refused",
                    std::string(router_loss) + ": trl 1.16.0 refuses it where the model (" + model_type +
                        ") is no mixture of experts",
                    found->where,
                    {},
                    {}};
}

}  // namespace

Result<TrainingPlan> settle(TrainingPlan plan, const std::string& model_type) {
  if (Diagnostics errors = settle_attention(plan.kernels.attention, model_type); !errors.empty()) return errors;
  add_router_loss(plan, model_type);
  if (std::optional<Diagnostic> refused = refused_by_dense(plan, model_type)) return *std::move(refused);
  auto& targets = plan.adapter.targets;
  if (plan.adapter.kind.value == Adapter::none || targets.value != std::vector<std::string>{"peft-default"})
    return plan;
  const ingestion::Stack& peft = ingestion::stack_of("peft-0.21");
  const auto& by_type = peft.layers().front().targets;
  const auto found = std::ranges::find(by_type, model_type, [](const auto& row) { return row.first; });
  if (found == by_type.end()) return no_default(model_type);
  targets = {found->second, peft.origin("peft", "target modules of " + model_type)};
  return plan;
}

}  // namespace oomplan
