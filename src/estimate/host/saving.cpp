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

bool any(const HeldParameter&) { return true; }
bool is_trained(const HeldParameter& p) { return p.trained; }

/// transformers/modeling_utils.py: save_pretrained(max_shard_size).
Bytes most_of_a_file(const TrainingPlan& plan) {
  const bool before = plan.framework.find("transformers 4") != std::string::npos;
  return Bytes(before ? 5'000'000'000 : 50'000'000'000);
}

Saved of_whole(const TrainingPlan& plan, const HostModel& model) {
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  const Bytes all = adapts ? bytes_of_model(model, is_trained) : bytes_of_model(model, any);
  return {Whose::first, std::min(all, most_of_a_file(plan)),
          "safetensors 0.8.0: save_file copies all tensors of a file before it writes it"};
}

/// A checkpoint has the model and then the optimizer's state, which AdamW makes two tensors of.
Saved of_fsdp(const Question& question) {
  if (!question.plan.mesh.fsdp_full_state.value) return {};
  const Bytes state = question.model->state_tensors * bytes_of_model(*question.model, is_trained);
  return {Whose::first, std::max(bytes_of_model(*question.model, any), state),
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
    return {Whose::each, bytes_of_model(*question.model, any) + second_of_tied(*question.model),
            "accelerate 1.15.0: get_state_dict, by which DeepSpeed's clone_tensors_for_torch_save copies the model in "
            "every rank"};
  }
  if (!plan.mesh.zero_gathers_to_save.value) return {};
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  return {Whose::first, adapts ? bytes_of_model(*question.model, is_trained) : bytes_of_model(*question.model, any),
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
  const bool parted = plan.mesh.tensor_parallel.value > 1 || is_pipelined(plan.mesh);
  if (question.model == nullptr || parted || plan.loader.weights_on.value == WeightsOn::unknown) {
    return out.missing.push_back("what is copied to the host while a checkpoint is written");
  }
  const Saved saved = saved_by(question);
  const Bytes all = copies(saved.whose, plan.loader) * saved.each;
  if (all == Bytes(0)) return;
  out.terms.push_back(term("checkpoint being saved", HostPlace::process, all, {HostMoment::saving},
                           fmt::format("{} × {}", text_of(saved.whose, plan.loader), to_text(saved.each)),
                           std::string(saved.source)));
}

}  // namespace oomplan::host
