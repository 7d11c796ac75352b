#include "modules/expert_layers.hpp"

#include <array>

#include "modules/experts.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::array<std::string_view, 3> loops{"indexed", "each", "raised"};

}  // namespace

ExpertLayers::ExpertLayers(const Attributes& a, Builder& b, const std::string& name)
    : loop_(static_cast<Loop>(a.choice("older_experts", loops))),
      activation_(find_activation(a.text("activation", "silu"), b)),
      module_(b.module_id(name)) {
  const std::int64_t width = a.integer("width");
  const std::int64_t inner = a.integer("inner");
  const bool bias = a.flag("shared_bias", false);
  const std::string gate = a.text("gate_layer", "gate_proj");
  const std::string up = a.text("up_layer", "up_proj");
  const std::string down = a.text("down_layer", "down_proj");
  for (std::int64_t e = 0; e < a.integer("experts"); ++e) {
    const std::string m = name + "." + std::to_string(e) + ".";
    Expert& expert = experts_.emplace_back();
    expert.gate = Linear(b, m + gate, width, inner, bias);
    expert.up = Linear(b, m + up, width, inner, bias);
    expert.down = Linear(b, m + down, inner, width, bias);
  }
}

Tensor ExpertLayers::where(Torch& t, std::int64_t share, std::int64_t each, std::int64_t tokens) const {
  const Tensor mask =
      loop_ == Loop::indexed ? t.empty({1, each, tokens}, DType::int64, "aten::index") : Tensor();  // Until it is read.
  return t.empty({share, 2}, DType::int64, "aten::nonzero");
}

Tensor ExpertLayers::mlp(Play& play, const Expert& expert, const Tensor& rows) const {
  Torch& t = play.torch;
  const Tensor gate = activation_(t, expert.gate(play, rows));
  return expert.down(play, t.mul(gate, expert.up(play, rows)));
}

Tensor ExpertLayers::operator()(Play& play, const Tensor& hidden, const Routed& routed) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  const std::int64_t tokens = hidden->sizes[0];
  const std::int64_t each = routed.index->sizes[1];
  const std::int64_t count = std::ssize(experts_);
  const std::vector<std::int64_t> shares = tokens_of_experts(play.facts.routing, count, tokens, each);
  const DType sums = loop_ == Loop::raised ? routed.weights->dtype : hidden->dtype;
  const Tensor final_states = t.zeros(hidden->sizes, sums);
  const Tensor expert_mask = t.empty({tokens, each, count}, DType::int64, "aten::zeros");
  Tensor expert_hit;
  if (loop_ == Loop::indexed) expert_hit = t.empty({std::ssize(shares), 1}, DType::int64, "aten::nonzero");
  Tensor token, rows, weights, current;
  for (std::size_t e = 0; e < shares.size(); ++e) {
    token = where(t, shares[e], each, tokens);
    rows = t.alias(token, {shares[e]}, {2});
    if (loop_ == Loop::raised) weights = weights_at(t, routed.weights, rows);
    current = t.index_rows(hidden, rows);
    const Tensor made = mlp(play, experts_[e], current);
    if (loop_ != Loop::raised) weights = weights_at(t, routed.weights, rows);
    const Tensor weighted = t.mul(made, weights);
    if (loop_ != Loop::raised) weights = Tensor();
    t.index_add_(final_states, rows, t.to(weighted, sums));
  }
  return t.to(final_states, hidden->dtype);
}

}  // namespace oomplan::estimator
