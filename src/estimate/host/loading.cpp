// The model while it is loaded. Of a safetensors file transformers maps the pages, and a tensor of the checkpoint's own
// dtype is a view of them; what is loaded in another dtype is memory of the process (bench/loader/models.py).
#include <fmt/format.h>

#include "oomplan/core/text.hpp"
#include "weights.hpp"

namespace oomplan::host {
namespace {

/// Who has the whole model on the host before it is on a GPU.
Whose holder_of(const TrainingPlan& plan) {
  const MeshFacts& mesh = plan.mesh;
  const WeightsOn on = plan.loader.weights_on.value;
  // transformers/quantizers: quantizer_bnb_4bit.py, update_device_map: the current GPU.
  if (plan.quantization.kind.value != Quantization::none) return Whose::nobody;
  // zero.Init; a GPU gathers each parameter, and the first rank copies it from the mapped file
  // (transformers/integrations/deepspeed.py: _load_state_dict_into_zero3_model).
  if (mesh.sharding.value == Sharding::zero3) return Whose::nobody;
  if (is_fsdp(mesh.sharding.value)) {
    if (on == WeightsOn::host_of_several) return Whose::nobody;
    return mesh.fsdp_first_loads.value ? Whose::first : Whose::each;
  }
  const bool several = mesh.world_size.value > 1;
  const bool on_host = on == WeightsOn::host || (on == WeightsOn::host_of_several && several);
  return on_host ? Whose::each : Whose::nobody;
}

/// As it is on the host: FSDP2 raises what is trained before it shards (accelerate/utils/fsdp_utils.py:
/// fsdp2_prepare_model).
DType on_host(const Question& question, const HeldParameter& p) {
  const MeshFacts& mesh = question.plan.mesh;
  const bool raised = mesh.sharding.value == Sharding::fsdp2 && mesh.fsdp_fp32_trained.value;
  return raised && p.trained ? DType::fp32 : question.model->loaded;
}

/// A reference beside the policy. TRL's trainers load it once transformers' Trainer has moved the policy to the GPU
/// (dpo_trainer.py: __init__), which it does not under DeepSpeed (trainer.py: place_model_on_device); before 1.0 its
/// scripts loaded both.
bool are_together(const TrainingPlan& plan) {
  return plan.framework.starts_with("trl 0.") || is_zero(plan.mesh.sharding.value);
}

/// transformers 5 joins the experts of a checkpoint that has each by itself, in memory of the process
/// (core_model_loading.py: MergeModulelist, Concatenate), and maps those of one that has them together.
bool joins_experts(const Question& question) {
  const bool has_experts = std::ranges::any_of(question.model->parameters, &HeldParameter::expert);
  return has_experts && holder_of(question.plan) != Whose::nobody;
}

std::string why_unknown(const Question& question) {
  const TrainingPlan& plan = question.plan;
  if (question.model == nullptr) return "the weights while they are loaded";
  if (plan.mesh.world_size.value > 1 && plan.loader.ranks.origin.kind == Origin::Kind::assumed) {
    return "how many of the ranks one machine has: --set ranks=… says it";
  }
  if (plan.loader.weights_on.value == WeightsOn::unknown) {
    return "what holds the weights while they are loaded: --set weights_on=device, or host";
  }
  if (is_parted(plan.mesh)) return "the weights while the ranks load their parts of a model";
  if (plan.quantization.dequantized.value != Dequantized::none) return "weights that are made whole while loading";
  if (plan.recipe.kind.value == RecipeKind::distillation) return "the teacher while it is loaded";
  if (joins_experts(question)) return "experts that are joined while they are loaded";
  return {};
}

}  // namespace

void add_loading(const Question& question, HostFootprint& out) {
  if (std::string unknown = why_unknown(question); !unknown.empty()) return out.missing.push_back(std::move(unknown));
  const LoaderPlan& loader = question.plan.loader;
  const HostModel& model = *question.model;
  const Whose whose = holder_of(question.plan);
  const Bytes mapped = model.elements * Bytes(bytes_of(model.checkpoint));
  Bytes made;
  for (const HeldParameter& p : model.parameters) {
    if (p.adapter || (!p.of_policy && !are_together(question.plan))) continue;
    const std::int64_t elements = saturating_mul(p.layers, p.elements);
    const DType dtype = on_host(question, p);
    if (dtype != model.checkpoint) made += elements * Bytes(bytes_of(dtype));
  }
  std::vector<HostMoment> moments{HostMoment::loading};
  if (loader.weights_before_rows.value) moments.push_back(HostMoment::preparing);
  if (whose != Whose::nobody && made > Bytes(0)) {
    out.terms.push_back(passing_term("weights being loaded", HostPlace::process, copies(whose, loader) * made, moments,
                                     fmt::format("{} × {}", text_of(whose, loader), to_text(made)),
                                     "transformers 5.23.0: from_pretrained, in another dtype than the checkpoint's " +
                                         std::string(name_of(model.checkpoint))));
  }
  if (mapped == Bytes(0)) return;
  out.terms.push_back(passing_term("checkpoint's files", HostPlace::page_cache, mapped, moments,
                                   to_text(mapped) + " as mapped, once for all ranks",
                                   "safetensors 0.8.0 maps them; what does not fit is read again"));
}

}  // namespace oomplan::host
