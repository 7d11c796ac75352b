#include "embedding_checks.hpp"

#include <fmt/format.h>

#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

/// How many columns the loss takes; 0: two or more.
std::int64_t columns_of(Loss loss) {
  const bool any = loss == Loss::multiple_negatives || loss == Loss::cached_multiple_negatives;
  return any ? 0 : loss == Loss::triplet ? 3 : 2;
}

void check_columns(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<std::int64_t>& columns = plan.recipe.columns;
  const Loss loss = plan.recipe.loss.value;
  const std::int64_t wanted = columns_of(loss);
  const std::string_view name = loss_names[static_cast<std::size_t>(loss)];
  const bool stops = wanted == 0 ? columns.value < 2 : columns.value != wanted;
  if (stops) {
    const std::string takes = wanted == 0 ? "two columns or more" : fmt::format("{} columns", wanted);
    Diagnostic stop =
        unmodelled(fmt::format("the loss {} takes {}, not {}: sentence-transformers stops", name, takes, columns.value),
                   columns.origin);
    stop.hint = "columns says how many a row has";
    errors.push_back(std::move(stop));
  }
  if (columns.value > 8) errors.push_back(unmodelled("more than eight columns are not modelled", columns.origin));
  const Setting<std::int64_t>& anchor = plan.batch.anchor_length;
  if (anchor.value <= plan.batch.sequence_length.value) return;
  errors.push_back(unmodelled("a first column that is longer than the others is not modelled yet", anchor.origin));
}

}  // namespace

void check_embeddings(const TrainingPlan& plan, Diagnostics& errors) {
  const RecipeFacts& recipe = plan.recipe;
  if (recipe.kind.value != RecipeKind::sentence_embedding) return;
  const auto cannot = [&](bool is, const std::string& what, const Origin& origin) {
    if (is) errors.push_back(unmodelled(what + " in sentence_embedding is not modelled yet", origin));
  };
  check_columns(plan, errors);
  const bool older =
      plan.framework.starts_with("sentence-transformers ") && !plan.framework.starts_with("sentence-transformers 6.");
  if (older) errors.push_back({.code = "estimate/unmodelled", .message = plan.framework + " is not modelled: 6.2 is"});
  const bool other = !recipe.trainer.value.empty() && recipe.trainer.value != "trainer";
  cannot(other, "the trainer " + recipe.trainer.value, recipe.trainer.origin);
  cannot(recipe.reference.value != Reference::none, "a reference", recipe.reference.origin);
  cannot(plan.model.head.value != HeadKind::language_model, "a head for another task", plan.model.head.origin);
  cannot(plan.quantization.kind.value != Quantization::none, "a quantized model", plan.quantization.kind.origin);
  cannot(plan.adapter.kind.value != Adapter::none && plan.adapter.kind.value != Adapter::lora,
         "an adapter other than LoRA", plan.adapter.kind.origin);
  cannot(plan.adapter.kind.value != Adapter::none && !plan.adapter.modules_to_save.value.empty(), "modules_to_save",
         plan.adapter.modules_to_save.origin);
  cannot(plan.adapter.kind.value != Adapter::none && plan.adapter.dora.value, "DoRA", plan.adapter.dora.origin);
  cannot(has_liger_layers(plan.kernels), "Liger's kernels", plan.kernels.liger_rms_norm.origin);
  cannot(plan.kernels.attention.value == Attention::flash_attention_2, "FlashAttention 2, which packs the texts,",
         plan.kernels.attention.origin);
  cannot(recipe.label_smoothing.value, "label smoothing", recipe.label_smoothing.origin);
  cannot(recipe.neftune.value, "NEFTune", recipe.neftune.origin);
  cannot(!recipe.trained.value.empty(), "training some parameters by their names", recipe.trained.origin);
  cannot(!recipe.frozen.value.empty(), "freezing parameters by their names", recipe.frozen.origin);
  cannot(recipe.trained_layers.value != 0, "freeze tuning", recipe.trained_layers.origin);
  cannot(plan.model.vocabulary.value > 0, "an enlarged vocabulary", plan.model.vocabulary.origin);
  cannot(plan.mesh.sharding.value != Sharding::none, "more than one GPU", plan.mesh.sharding.origin);
}

}  // namespace oomplan::estimator
