#include "media_checks.hpp"

#include <fmt/format.h>

#include "adapter_checks.hpp"
#include "oomplan/core/text.hpp"
#include "recipe_titles.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

/// Sounds of rows, in a model that hears them or in one that does not.
void check_clips(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<std::int64_t>& clips = plan.images.clips;
  const bool hears = std::ranges::any_of(architecture.body, &Segment::hears);
  if (!hears && clips.value > 0) {
    errors.push_back(
        unmodelled(architecture.model_type + " models that hear sounds are not modelled yet", clips.origin));
  }
  if (!hears || clips.value != unknown_images) return;
  Diagnostic d =
      unmodelled(architecture.source + " hears sounds, and nothing says whether the rows have any", clips.origin);
  d.hint = "set clips (--set clips=0 for text alone), to how many a row has.";
  errors.push_back(std::move(d));
}

/// A row is a picture or a sound then, or a picture and a text, and holds no others.
void check_media(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const auto no_more_than = [&](std::int64_t most, const Setting<std::int64_t>& said, const char* what) {
    if (said.value <= most) return;
    errors.push_back(
        unmodelled(fmt::format("{} in each row of {}, whose rows are {}, are not modelled", what,
                               architecture.model_type, rows_names[static_cast<std::size_t>(architecture.rows)]),
                   said.origin));
  };
  const bool sounds = architecture.rows == Rows::sound;
  no_more_than(sounds ? 0 : 1, plan.images.count, "images");
  no_more_than(sounds ? 1 : 0, plan.images.clips, "clips");
}

/// Of a denoiser what diffusers' training scripts do was measured, on one GPU.
void check_latents(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (architecture.rows != Rows::latents) return;
  const auto cannot = [&](bool asked, const std::string& what, const Origin& origin) {
    if (asked) errors.push_back(unmodelled(what + " of a denoiser is not modelled yet", origin));
  };
  const AdapterFacts& adapter = plan.adapter;
  const bool other = adapter.kind.value != Adapter::none && adapter.kind.value != Adapter::lora;
  cannot(other, std::string(title_of(adapter.kind.value)), adapter.kind.origin);
  cannot(adapter.kind.value == Adapter::lora && adapter.dora.value, "DoRA", adapter.dora.origin);
  cannot(plan.quantization.kind.value != Quantization::none, "quantization", plan.quantization.kind.origin);
  cannot(plan.recipe.kind.value != RecipeKind::supervised, title_of(plan.recipe.kind.value), plan.recipe.kind.origin);
  cannot(plan.recipe.label_smoothing.value, "label smoothing", plan.recipe.label_smoothing.origin);
  cannot(plan.recipe.trained_layers.value != 0, "freeze tuning", plan.recipe.trained_layers.origin);
  cannot(plan.recipe.neftune.value, "NEFTune", plan.recipe.neftune.origin);
  cannot(plan.recipe.outputs_kept.value && plan.recipe.outputs_kept.origin.is_said(), "an output that is kept",
         plan.recipe.outputs_kept.origin);
  cannot(plan.recipe.loss.value != Loss::full_logits, "another loss than the mean squared error",
         plan.recipe.loss.origin);
  cannot(plan.precision.fp32_norms.value, "norms in fp32", plan.precision.fp32_norms.origin);
  cannot(has_liger_layers(plan.kernels), "Liger's kernels", plan.kernels.liger_rms_norm.origin);
  cannot(!adapter.target_parameters.value.empty(), "LoRA on parameters", adapter.target_parameters.origin);
  cannot(plan.evaluation.evaluates.value, "evaluation", plan.evaluation.evaluates.origin);
  cannot(plan.checkpointing.offload.value != Offload::none, "activation offloading", plan.checkpointing.offload.origin);
  cannot(plan.mesh.sharding.value == Sharding::ddp, "data parallel training", plan.mesh.sharding.origin);
}

/// Rows that are no text have no facts of their own beside the model's, and were run on one rank.
void check_rows(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  check_media(plan, architecture, errors);
  check_latents(plan, architecture, errors);
  if (!plan.recipe.trainer.value.empty() && plan.recipe.trainer.value != "trainer") {
    errors.push_back(unmodelled("a trainer of texts (" + plan.recipe.trainer.value + ") of a model of " +
                                    std::string(rows_names[static_cast<std::size_t>(architecture.rows)]),
                                plan.recipe.trainer.origin));
  }
  if (holds_whole(plan.mesh)) return;
  errors.push_back(unmodelled("a sharded model of " +
                                  std::string(rows_names[static_cast<std::size_t>(architecture.rows)]) +
                                  " is not modelled yet",
                              plan.mesh.sharding.origin));
}

// Of text or images, what a rank holds under DDP was measured, and no other sharding.
void check_seeing_ranks(const TrainingPlan& plan, bool sees, Diagnostics& errors) {
  const MeshFacts& mesh = plan.mesh;
  if (!sees || holds_whole(mesh)) return;
  errors.push_back(unmodelled("shards of a model that sees images are not modelled yet", mesh.sharding.origin));
}

}  // namespace

void check_images(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (!plan.unmodelled.empty()) return;  // The config's keys say it better.
  if (architecture.rows != Rows::tokens) return check_rows(plan, architecture, errors);
  check_clips(plan, architecture, errors);
  const bool hears = std::ranges::any_of(architecture.body, &Segment::hears);
  const bool sees =
      std::ranges::any_of(architecture.body, [](const Segment& s) { return s.tower && !s.silent && !s.hears; });
  const std::int64_t pictures = sees ? plan.images.count.value : 0;
  const std::int64_t sounds = hears ? plan.images.clips.value : 0;
  const bool has_media = pictures > 0 || sounds > 0;
  if (pictures == unknown_images) {
    Diagnostic d = unmodelled(architecture.source + " sees images, and nothing says whether the rows have any",
                              plan.images.count.origin);
    d.hint =
        "set images (--set images=0 for text alone), to how many a row has; then image_height and image_width, in "
        "pixels.";
    errors.push_back(std::move(d));
  }
  if (has_media && plan.recipe.kind.value != RecipeKind::supervised) {
    errors.push_back(
        unmodelled(fmt::format("{} of rows with images is not modelled yet", title_of(plan.recipe.kind.value)),
                   plan.recipe.kind.origin));
  }
  const Loss loss = plan.recipe.loss.value;
  const KernelFacts& k = plan.kernels;
  const bool makes_logits = loss != Loss::chunked_logprob && loss != Loss::cut_cross_entropy;
  if (has_media && loss != Loss::full_logits && (sounds > 0 || makes_logits)) {
    errors.push_back(unmodelled(
        fmt::format("the loss {} of rows with images is not modelled yet", loss_names[static_cast<std::size_t>(loss)]),
        plan.recipe.loss.origin));
  }
  check_seeing_ranks(plan, sees || hears, errors);
  if (sounds > 0 && (k.lora_qkv.value || k.lora_o.value || k.lora_mlp.value)) {
    errors.push_back(unmodelled("fused LoRA kernels over rows with sounds are not modelled yet", k.lora_qkv.origin));
  }
  if (sees || plan.images.count.value <= 0) return;
  errors.push_back(
      unmodelled(architecture.model_type + " models that see images are not modelled yet", plan.images.count.origin));
}

}  // namespace oomplan::estimator
