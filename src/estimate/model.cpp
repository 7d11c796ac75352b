#include "model.hpp"

#include <fmt/format.h>

namespace oomplan::estimator {
namespace {

void make_steps(const std::vector<OpSpec>& specs, Builder& builder, std::vector<std::unique_ptr<Module>>& out) {
  for (const OpSpec& spec : specs) {
    const OpType* op = find_op(spec.op);
    if (op == nullptr) {
      Diagnostic d;
      d.code = "estimate/bad-architecture";
      d.message = fmt::format("{}: there is no op \"{}\"", builder.architecture.name, spec.op);
      builder.problems.push_back(std::move(d));
      continue;
    }
    out.push_back(op->make(Attributes(spec, builder), builder));
  }
}

/// What a block is called with besides the hidden states; a checkpoint holds on to it.
Stream arguments_of_block(const Stream& outer) {
  Stream s;
  s.mask = outer.mask;
  s.cos = outer.cos;
  s.sin = outer.sin;
  if (outer.cos) s.position_ids = outer.position_ids;  // Decoders with rotary embeddings pass them along.
  return s;
}

Tensor play_block(Play& play, Stream s, const std::vector<std::unique_ptr<Module>>& block, const Tensor& x) {
  const int layer = play.torch.recorder.scope.layer;
  s.hidden = play.policy.enter_block(play.torch, layer, x);
  for (const auto& step : block) step->forward(play, s);
  return play.policy.leave_block(play.torch, layer, s.hidden);
}

}  // namespace

void Stream::leave_base() {
  residual.reset();
  mask.reset();
  cos.reset();
  sin.reset();
  position_ids.reset();
  inputs_embeds.reset();
  position_embeds.reset();
}

void Model::forward(Play& play, Stream& s) const {
  Torch& t = play.torch;
  std::int16_t& layer = t.recorder.scope.layer;
  for (const auto& step : stem) step->forward(play, s);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Restore in_layer(layer, static_cast<std::int16_t>(i));
    const auto& block = blocks[i];
    const Tensor x = s.hidden;
    const Stream arguments = arguments_of_block(s);
    if (play.facts.checkpointing) {
      s.hidden = t.checkpoint(
          x, [&play, &block, arguments](Tensor input) { return play_block(play, arguments, block, input); },
          play.facts.reentrant);
    } else {
      s.hidden = play_block(play, arguments, block, x);
    }
  }
  for (const auto& step : tail) step->forward(play, s);
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

}  // namespace

Result<Model> build(Torch& torch, const Facts& facts, const Architecture& architecture, Policy& policy, int built) {
  Builder builder(torch, facts, architecture, policy);
  Model model;
  builder.modules.emplace_back("");
  make_steps(architecture.stem, builder, model.stem);
  builder.prefix = architecture.block_module + ".*";
  for (int i = 0; i < built; ++i) {
    Restore in_layer(torch.recorder.scope.layer, static_cast<std::int16_t>(i));
    builder.repeats = i == built / 2 ? architecture.layers - built + 1 : 1;
    make_steps(architecture.block, builder, model.blocks.emplace_back());
  }
  builder.prefix.clear();
  builder.repeats = 1;
  make_steps(architecture.tail, builder, model.tail);
  if (facts.lora && builder.trained == 0 && builder.problems.empty())
    builder.problems.push_back(no_target(facts, builder));
  if (!builder.problems.empty()) return std::move(builder.problems);
  builder.finish_loading();
  if (facts.lora) model.unmatched_targets = builder.unmatched_targets();
  model.parameters = std::move(builder.parameters);
  model.modules = std::move(builder.modules);
  model.total = builder.total;
  model.trained = builder.trained;
  return model;
}

}  // namespace oomplan::estimator
