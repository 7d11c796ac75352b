// What a plan leaves open of the tensors: facts that are assumed as the most that they can be.
#include <algorithm>
#include <array>

#include "oomplan/estimate/estimate.hpp"
#include "weight_checks.hpp"

namespace oomplan {
namespace {

struct Unknown {
  std::string_view name;
  std::string_view why;
  bool (*is_open)(const TrainingPlan& plan, const Architecture& architecture);
  void (*take_least)(TrainingPlan& plan);
};

bool has_op(const Architecture& architecture, std::string_view op) {
  return any_op(architecture, [&](const OpSpec& spec) { return spec.op == op; });
}

bool has_open_layers(const TrainingPlan& plan, const Architecture&) { return estimator::has_open_layers(plan); }

constexpr std::array unknowns{
    Unknown{"completion length",
            "no key says how many tokens of a row are its completion: from one to all but the first "
            "(completion_length says it)",
            [](const TrainingPlan& plan, const Architecture&) {
              const RecipeKind kind = plan.recipe.kind.value;
              const bool fused = kind == RecipeKind::supervised && of_labelled_tokens(plan.recipe.loss.value) &&
                                 plan.batch.completion_length.value != 0;
              const bool scored = kind == RecipeKind::dpo || kind == RecipeKind::kto || kind == RecipeKind::grpo ||
                                  kind == RecipeKind::distillation || fused;
              return scored && plan.batch.completion_length.origin.kind == Origin::Kind::assumed;
            },
            [](TrainingPlan& plan) { plan.batch.completion_length.value = 1; }},
    Unknown{"padding",
            "where all rows of a batch are of one length, they have no mask, and attention in fp32 with grouped heads "
            "keeps all scores then (padding_mask says it)",
            [](const TrainingPlan& plan, const Architecture&) {
              const Setting<bool>& mask = plan.batch.padding_mask;
              return mask.value && mask.origin.kind == Origin::Kind::assumed &&
                     plan.kernels.attention.value == Attention::sdpa && plan.precision.autocast.value == Autocast::none;
            },
            [](TrainingPlan& plan) { plan.batch.padding_mask.origin.kind = Origin::Kind::config; }},
    Unknown{"compiled optimizer step",
            "torch.compile makes torchao's step: its buffers are those of torch 2.13's code for Triton; another "
            "version may "
            "need none",
            [](const TrainingPlan& plan, const Architecture&) {
              const std::string& name = plan.optimizer.name.value;
              return name == "torchao_adamw_8bit" || name == "torchao_adamw_4bit";
            },
            [](TrainingPlan& plan) { plan.optimizer.name.value += "_in_one_kernel"; }},
    Unknown{"layers in 16 bits",
            "which layers the checkpoint leaves in 16 bits only its config.json says: from none to all "
            "(unquantized_modules says them, checkpoint_bytes what the checkpoint comes to)",
            has_open_layers, [](TrainingPlan& plan) { plan.quantization.skipped.value.clear(); }},
    Unknown{"dequantizing",
            "where the GPU has no room for what dequantizing takes, transformers does it on the host "
            "(dequantized says where)",
            [](const TrainingPlan& plan, const Architecture& architecture) {
              return !architecture.packed.empty() && plan.quantization.dequantized.value == Dequantized::on_device;
            },
            [](TrainingPlan& plan) { plan.quantization.dequantized.value = Dequantized::on_host; }},
    Unknown{"new tokens",
            "whether the tokenizer has them already, so that the embeddings stay as they are, is not known "
            "(vocabulary says it, of 0 or more rows)",
            [](const TrainingPlan& plan, const Architecture&) {
              const Setting<std::int64_t>& vocabulary = plan.model.vocabulary;
              return vocabulary.value > 0 && vocabulary.origin.kind == Origin::Kind::assumed;
            },
            [](TrainingPlan& plan) { plan.model.vocabulary.value = 0; }},
    Unknown{"expert routing",
            "which tokens an expert gets is not known: from as many as any other expert to all of them "
            "(expert_routing says it)",
            [](const TrainingPlan& plan, const Architecture& architecture) {
              const bool eager = plan.kernels.experts.value == ExpertsImplementation::eager;
              const bool loops = has_op(architecture, "dbrx_moe") ||
                                 (eager && (has_op(architecture, "sparse_moe") || has_op(architecture, "biased_moe")));
              return loops && plan.kernels.routing.value == Routing::any;
            },
            [](TrainingPlan& plan) { plan.kernels.routing.value = Routing::balanced; }},
};

}  // namespace

std::vector<Contribution> unknown_of(const TrainingPlan& plan, const Architecture& architecture,
                                     const Footprint& footprint) {
  std::vector<Contribution> out;
  for (const Unknown& unknown : unknowns) {
    if (!unknown.is_open(plan, architecture)) continue;
    TrainingPlan least = plan;
    unknown.take_least(least);
    const Result<Footprint> peaks = estimate(least, architecture, Detail::peaks);
    if (!peaks) continue;
    const Bytes depends = footprint.peak.tensors() - peaks->peak.tensors();
    if (depends <= Bytes()) continue;
    out.push_back({std::string(unknown.name), std::string(unknown.why), {}, depends});
  }
  return out;
}

}  // namespace oomplan
