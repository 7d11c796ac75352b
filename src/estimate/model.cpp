#include "model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oomplan::estimator {
namespace {

Diagnostic unknown(const Builder& builder, std::string_view kind, const std::string& name) {
  Diagnostic d;
  d.code = "estimate/bad-architecture";
  d.message = fmt::format("{}: there is no {} \"{}\"", builder.architecture.name, kind, name);
  return d;
}

void make_steps(const std::vector<OpSpec>& specs, Builder& builder, Modules& out) {
  for (const OpSpec& spec : specs) {
    const OpType* op = find_op(spec.op);
    if (op == nullptr) {
      builder.problems.push_back(unknown(builder, "op", spec.op));
      continue;
    }
    out.push_back(op->make(Attributes(spec, builder), builder));
  }
}

void make_head(const OpSpec& spec, Builder& builder, Model& model) {
  const std::string name = builder.facts.scores_rows ? "score_head" : spec.op;
  const HeadType* head = find_head(name);
  if (head == nullptr) return builder.problems.push_back(unknown(builder, "head", name));
  model.head = head->make(Attributes(spec, builder), builder);
}

Tensor play_block(Play& play, const Arguments& arguments, const Modules& block, const Tensor& x) {
  Stream s;
  s.arguments = arguments;
  const int layer = play.torch.recorder.scope.layer;
  s.hidden = play.policy.enter_block(play.torch, layer, x);
  for (const auto& step : block) step->forward(play, s);
  return play.policy.leave_block(play.torch, layer, s.hidden);
}

void play_layer(Play& play, const Modules& block, Stream& s) {
  const Tensor x = s.hidden;
  if (!play.facts.checkpointing) {
    s.hidden = play_block(play, s.arguments, block, x);
    s.attn_weights = std::exchange(play.torch.beside, {});
    return;
  }
  // The checkpoint holds on to what the block is called with, and outlives its caller.
  const auto forward = [play, &block, arguments = s.arguments](const Tensor& input) mutable {
    return play_block(play, arguments, block, input);
  };
  s.hidden = play.torch.checkpoint(x, forward, play.facts.reentrant);
  s.attn_weights = std::exchange(play.torch.beside, {});
}

}  // namespace

void Stream::leave_base() {
  residual.reset();
  for (Tensor& mask : arguments.masks) mask.reset();
  for (Tensor& cos : arguments.cos) cos.reset();
  for (Tensor& sin : arguments.sin) sin.reset();
  arguments.bias.reset();
  attn_weights.reset();
  arguments.position_ids.reset();
  position_ids.reset();
  position_mask.reset();
  inputs_embeds.reset();
  position_embeds.reset();
}

void Model::base(Play& play, Stream& s) const {
  std::int16_t& layer = play.torch.recorder.scope.layer;
  std::int16_t built = 0;
  for (const Segment& segment : body) {
    for (const auto& step : segment.stem) step->forward(play, s);
    for (const Modules& block : segment.blocks) {
      Restore in_layer(layer, std::int16_t{built++});
      play_layer(play, block, s);
    }
  }
  for (std::size_t i = 0; i < tail.size(); ++i) {
    const bool norm = static_cast<int>(i) == last_norm;
    if (norm) s.hidden = play.policy.enter_module(play.torch, Site::norm, s.hidden);
    tail[i]->forward(play, s);
    if (norm) s.hidden = play.policy.leave_module(play.torch, Site::norm, s.hidden);
  }
  s.leave_base();
}

namespace {

// peft/tuners/tuners_utils.py: inject_adapter raises a ValueError.
Diagnostic no_target(const Facts& facts, const Builder& builder) {
  Diagnostic d;
  d.code = "estimate/no-target";
  std::string targets;
  for (const std::string& target : facts.lora_targets) targets += (targets.empty() ? "" : ", ") + target;
  d.message = fmt::format("no module of {} is one of the LoRA targets {}", builder.architecture.source, targets);
  d.where = facts.lora_targets_at;
  return d;
}

Diagnostic nothing_trained(const Facts& facts, const Builder& builder) {
  Diagnostic d;
  d.code = "estimate/no-target";
  d.message = "no parameter of " + builder.architecture.source +
              " is one that the expressions name: nothing would be trained, and backward() stops";
  d.where = facts.trained_at;
  return d;
}

Diagnostic not_saved(const Facts& facts, const Builder& builder, const std::string& module) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message =
      fmt::format("training a copy of {}, which is neither the embedding nor the head of {}, is not modelled yet",
                  module, builder.architecture.source);
  d.where = facts.modules_to_save_at;
  return d;
}

int last_norm_of(const std::vector<OpSpec>& tail) {
  const auto is_norm = [](const OpSpec& spec) { return spec.op.find("norm") != std::string::npos; };
  const auto at = std::ranges::find_if(tail.rbegin(), tail.rend(), is_norm);
  return static_cast<int>(tail.rend() - at) - 1;
}

void make_layers(const Segment& segment, const Unit& unit, Builder& builder, std::vector<Modules>& out) {
  builder.prefix = segment.module + ".*";
  builder.repeats = unit.times;
  for (int i = 0; i < unit.layers; ++i) {
    Restore in_layer(builder.torch.recorder.scope.layer, static_cast<std::int16_t>(unit.first + i));
    builder.first_layer = unit.number + i;
    builder.layer_step = unit.layers;
    const std::uint8_t kind = segment.layers[static_cast<std::size_t>(unit.number + i)];
    make_steps(segment.kinds[kind], builder, out.emplace_back());
  }
  builder.prefix.clear();
  builder.repeats = 1;
}

void make_body(const Repetition& repetition, Builder& builder, std::vector<Model::Segment>& out) {
  auto unit = repetition.units().begin();
  for (const Segment& segment : builder.architecture.body) {
    Model::Segment& made = out.emplace_back();
    make_steps(segment.stem, builder, made.stem);
    for (const int here = static_cast<int>(out.size()) - 1; unit != repetition.units().end() && unit->segment == here;
         ++unit) {
      make_layers(segment, *unit, builder, made.blocks);
    }
  }
}

}  // namespace

Result<Model> build(Torch& torch, const Facts& facts, const Architecture& architecture, const Repetition& repetition,
                    std::unique_ptr<Policy> policy) {
  Builder builder(torch, facts, architecture, *policy);
  Model model;
  builder.modules.emplace_back("");
  make_body(repetition, builder, model.body);
  make_steps(architecture.tail, builder, model.tail);
  model.last_norm = last_norm_of(architecture.tail);
  make_head(architecture.head, builder, model);
  if (facts.lora && builder.trained == 0 && facts.trained.empty() && builder.problems.empty())
    builder.problems.push_back(no_target(facts, builder));
  // Without enable_input_require_grads nothing asks for a gradient, and backward() raises.
  if (!facts.trained.empty() && builder.trained == 0 && !facts.input_grads && builder.problems.empty())
    builder.problems.push_back(nothing_trained(facts, builder));
  for (const std::string& name : builder.unsaved_modules()) builder.problems.push_back(not_saved(facts, builder, name));
  if (!builder.problems.empty()) return std::move(builder.problems);
  builder.finish_loading();
  if (facts.lora) model.unmatched_targets = builder.unmatched_targets();
  model.parameters = std::move(builder.parameters);
  model.modules = std::move(builder.modules);
  model.policy = std::move(policy);
  model.policy->wrap(torch, model.parameters);
  model.total = builder.total;
  model.trained = builder.trained;
  return model;
}

}  // namespace oomplan::estimator
