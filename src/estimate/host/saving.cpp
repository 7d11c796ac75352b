// What writing a checkpoint holds on the host.
#include <fmt/format.h>

#include "oomplan/core/text.hpp"
#include "weights.hpp"

namespace oomplan::host {
namespace {

struct Saved {
  Whose whose = Whose::nobody;
  Bytes each{};
  std::string_view source{};
};

Bytes whole_of(const HostModel& model) {
  return bytes_of_model(model, [](const HeldParameter&) { return true; });
}

Bytes trained_of(const HostModel& model) { return bytes_of_model(model, &HeldParameter::trained); }

/// Of an adapter's model what is trained, else all.
Bytes own_of(const TrainingPlan& plan, const HostModel& model) {
  return plan.adapter.kind.value != Adapter::none ? trained_of(model) : whole_of(model);
}

/// transformers/modeling_utils.py: save_pretrained(max_shard_size).
Bytes most_of_a_file(const TrainingPlan& plan) {
  const bool before = plan.framework.find("transformers 4") != std::string::npos;
  return Bytes(before ? 5'000'000'000 : 50'000'000'000);
}

Saved of_whole(const TrainingPlan& plan, const HostModel& model) {
  return {Whose::first, std::min(own_of(plan, model), most_of_a_file(plan)),
          "safetensors 0.8.0: save_file copies all tensors of a file before it writes it"};
}

/// A checkpoint has the model and then the optimizer's state, which AdamW makes two tensors of.
Saved of_fsdp(const Question& question) {
  if (!question.plan.mesh.fsdp_full_state.value) return {};
  const Bytes state = question.model->state_tensors * trained_of(*question.model);
  return {Whose::first, std::max(whole_of(*question.model), state),
          "accelerate 1.15.0: get_state_dict and save_fsdp_optimizer, whole and on the host of rank 0"};
}

/// The embedding, which is the largest parameter outside the blocks.
Bytes second_of_tied(const HostModel& model) {
  Bytes out;
  for (const HeldParameter& p : model.parameters) {
    if (model.tied && p.of_policy && p.layer < 0) out = std::max(out, p.elements * Bytes(bytes_of(p.dtype)));
  }
  return out;
}

Saved of_zero(const Question& question) {
  const TrainingPlan& plan = question.plan;
  if (plan.mesh.sharding.value != Sharding::zero3) {
    return {Whose::each, whole_of(*question.model) + second_of_tied(*question.model),
            "accelerate 1.15.0: get_state_dict, by which DeepSpeed's clone_tensors_for_torch_save copies the model in "
            "every rank"};
  }
  if (!plan.mesh.zero_gathers_to_save.value) return {};
  return {Whose::first, own_of(plan, *question.model),
          "DeepSpeed 0.19.8: _zero3_consolidated_16bit_state_dict, on rank 0"};
}

Saved saved_by(const Question& question) {
  const Sharding sharding = question.plan.mesh.sharding.value;
  if (is_fsdp(sharding)) return of_fsdp(question);
  if (is_zero(sharding)) return of_zero(question);
  return of_whole(question.plan, *question.model);
}

}  // namespace

void add_saving(const Question& question, HostFootprint& out) {
  const TrainingPlan& plan = question.plan;
  if (!plan.saving.saves.value) return;
  if (question.model == nullptr || is_parted(plan.mesh) || plan.loader.weights_on.value == WeightsOn::unknown) {
    return out.missing.push_back("what is copied to the host while a checkpoint is written");
  }
  const Saved saved = saved_by(question);
  const Bytes all = copies(saved.whose, plan.loader) * saved.each;
  if (all == Bytes(0)) return;
  out.terms.push_back(passing_term("checkpoint being saved", HostPlace::process, all, {HostMoment::saving},
                                   fmt::format("{} × {}", text_of(saved.whose, plan.loader), to_text(saved.each)),
                                   std::string(saved.source)));
}

}  // namespace oomplan::host
