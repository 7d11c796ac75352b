#include "modules/experts.hpp"

#include <algorithm>

#include "modules/scatter_moe.hpp"

namespace oomplan::estimator {
namespace {

Tensor grouped_linear(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& offsets) {
  return t.grouped_mm(t.to(x, weight->dtype), weight, offsets);
}

/// Each row with a matrix of its own (_batched_linear).
Tensor batched_linear(Torch& t, const Tensor& x, const Tensor& weights) {
  return t.squeeze(t.bmm(weights, t.unsqueeze(x, 2)), 2);
}

}  // namespace

std::vector<std::int64_t> tokens_of_experts(Routing routing, std::int64_t experts, std::int64_t tokens,
                                            std::int64_t each) {
  constexpr std::int64_t after = 2;
  const bool crowded = routing == Routing::any && experts > after + 1;
  const std::int64_t pairs = saturating_mul(tokens, each);
  const std::int64_t most = std::clamp<std::int64_t>(pairs - after, 0, tokens);
  const std::int64_t spread = crowded ? experts - after - 1 : experts;
  const std::int64_t rest = crowded ? pairs - most - after : pairs;
  std::vector<std::int64_t> out;
  for (std::int64_t e = 0; e < spread; ++e) out.push_back(rest / spread + (e < rest % spread ? 1 : 0));
  if (crowded) out.insert(out.end(), {most, 1, 1});
  std::erase_if(out, [](std::int64_t share) { return share <= 0; });
  return out;
}

Tensor weights_at(Torch& t, const Tensor& weights, const Tensor& token) {
  return t.index_rows(t.view(weights, {-1, 1}), token);
}

RowsByExpert rows_by_expert(Torch& t, const Tensor& hidden, const Routed& routed, std::int64_t experts) {
  const std::int64_t all = saturating_mul(hidden->sizes[0], routed.index->sizes[1]);
  RowsByExpert out;
  out.weights = t.view(routed.weights, {all});
  out.experts = t.empty({all}, DType::int64, "aten::sort");
  out.order = t.empty({all}, DType::int64, "aten::sort");
  out.hidden = t.index_rows(hidden, t.empty({all}, DType::int64, "aten::floor_divide"));
  out.own_weights = t.index_rows(out.weights, out.order);
  out.counted = t.empty({all}, DType::int32, "aten::_to_copy");
  out.per_expert = t.empty({experts}, DType::int32, "aten::histc");
  out.offsets = t.empty({experts}, DType::int32, "aten::cumsum");
  return out;
}

Tensor summed_by_token(Torch& t, const Tensor& out, const RowsByExpert& rows, const Tensor& hidden) {
  Tensor weighted = t.mul(out, t.unsqueeze(rows.own_weights, 1));
  const std::int64_t all = weighted->sizes[0];
  const Tensor inverse = t.empty({all}, DType::int64, "aten::empty_like");
  t.empty({all}, DType::int64, "aten::arange");
  weighted = t.index_rows(weighted, inverse);
  const std::int64_t tokens = hidden->sizes[0];
  const Tensor sum = t.sum_dim(t.view(weighted, {tokens, all / tokens, -1}), 1, false);
  return t.to(sum, hidden->dtype);
}

Tensor summed_by_token(Torch& t, const Tensor& out, const Tensor& weights, const Tensor& hidden) {
  const Tensor weighted = t.mul(out, t.unsqueeze(weights, 1));
  const std::int64_t tokens = hidden->sizes[0];
  const Tensor sum = t.sum_dim(t.view(weighted, {tokens, weighted->sizes[0] / tokens, -1}), 1, false);
  return t.to(sum, hidden->dtype);
}

Experts::Experts(const Attributes& a, Builder& b, const std::string& name)
    : count_(a.integer("experts")),
      inner_(a.integer("inner")),
      gated_(a.flag("gated", true)),
      activation_(find_activation(a.text("activation", "silu"), b)),
      module_(b.module_id(name)) {
  const std::int64_t width = a.integer("expert_width", a.integer("width"));
  const std::int64_t times = b.facts.gate_up_doubled ? 2 : 1;
  gate_up_ = gated_ ? AdaptedParameter(b, name + ".gate_up_proj", {count_, saturating_mul(2, inner_), width},
                                       Part::expert, times)
                    : AdaptedParameter(b, name + ".up_proj", {count_, inner_, width}, Part::expert);
  down_ = AdaptedParameter(b, name + ".down_proj", {count_, width, inner_}, Part::expert);
}

Tensor Experts::gated(Torch& t, const Tensor& both) const {
  if (!gated_) return activation_(t, both);
  const std::vector<Tensor> parts = t.split(both, inner_, 1);
  return t.mul(activation_(t, parts[0]), parts[1]);
}

Tensor Experts::operator()(Play& play, const Tensor& hidden, const Routed& routed) const {
  Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
  if (play.facts.experts == ExpertsImplementation::scattermoe) return scattered(play, hidden, routed);
  Weight down(play, down_);  // peft wraps it around the other.
  Weight gate_up(play, gate_up_);
  switch (play.facts.experts) {
    case ExpertsImplementation::eager:
      return gated_ ? eager(play, hidden, routed, gate_up, down) : plain(play, hidden, routed, gate_up, down);
    case ExpertsImplementation::batched_mm:
      return batched(play, hidden, routed, gate_up, down);
    case ExpertsImplementation::grouped_mm:
    case ExpertsImplementation::scattermoe:
      break;
  }
  return grouped(play, hidden, routed, gate_up, down);
}

Tensor Experts::grouped(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const {
  Torch& t = play.torch;
  const RowsByExpert rows = rows_by_expert(t, hidden, routed, count_);
  Tensor out = grouped_linear(t, rows.hidden, gate_up(), rows.offsets);
  out = gated(t, out);
  out = grouped_linear(t, out, down(), rows.offsets);
  return summed_by_token(t, out, rows, hidden);
}

Tensor Experts::scattered(Play& play, const Tensor& hidden, const Routed& routed) const {
  Torch& t = play.torch;
  ScatteredWeight down(play, down_, hidden->dtype);
  ScatteredWeight gate_up(play, gate_up_, hidden->dtype);
  const Tensor weights = t.to(routed.weights, hidden->dtype);
  ScatteredRows rows = scattered_rows(t, routed, count_);
  if (gate_up_.blocks() != 0) rows.experts = t.empty(rows.experts->sizes, DType::int64, "aten::index");
  gate_up.choose(play, rows);
  down.choose(play, rows);
  gate_up.choose_adapter(t, rows);
  down.choose_adapter(t, rows);
  const Tensor both = gate_up(play, hidden, rows, {});
  const std::vector<Tensor> parts = t.split(both, inner_, 1);
  const Tensor inner = t.mul(activation_(t, parts[0]), parts[1]);
  return down(play, inner, rows, weights);
}

Tensor Experts::batched(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const {
  Torch& t = play.torch;
  const Tensor selected = t.repeat_rows(hidden, routed.index->sizes[1]);
  const Tensor sample_weights = t.view(routed.weights, {-1});
  const Tensor expert_ids = t.view(routed.index, {-1});
  Tensor selected_weights = t.index_rows(gate_up(), expert_ids);
  Tensor out = batched_linear(t, selected, selected_weights);
  out = gated(t, out);
  selected_weights = t.index_rows(down(), expert_ids);
  out = batched_linear(t, out, selected_weights);
  return summed_by_token(t, out, sample_weights, hidden);
}

Tensor Experts::eager(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const {
  Torch& t = play.torch;
  const std::int64_t tokens = hidden->sizes[0];
  const std::int64_t each = routed.index->sizes[1];
  const std::vector<std::int64_t> shares = tokens_of_experts(play.facts.routing, count_, tokens, each);
  const Tensor final_states = t.pointwise({&hidden}, hidden->dtype, "aten::zeros_like");
  const Tensor expert_mask = t.empty({tokens, each, count_ + 1}, DType::int64, "aten::zeros");
  t.empty({count_ + 1}, DType::int64, "aten::sum");
  const Tensor expert_hit = t.empty({std::ssize(shares), 1}, DType::int64, "aten::nonzero");
  Tensor token;
  Tensor current;
  std::vector<Tensor> parts;
  Tensor states;
  for (const std::int64_t share : shares) {
    token = t.empty({share, 2}, DType::int64, "aten::nonzero");
    const Tensor rows = t.alias(token, {share}, {2});
    current = t.index_rows(hidden, rows);
    parts = t.split(t.linear(current, t.select(gate_up(), 0), {}), inner_, 1);
    states = t.mul(activation_(t, parts[0]), parts[1]);
    states = t.linear(states, t.select(down(), 0), {});
    states = t.mul(states, weights_at(t, routed.weights, rows));
    t.index_add_(final_states, rows, t.to(states, final_states->dtype));
  }
  return final_states;
}

Tensor Experts::plain(Play& play, const Tensor& hidden, const Routed& routed, Weight& up, Weight& down) const {
  Torch& t = play.torch;
  const std::int64_t tokens = hidden->sizes[0];
  const std::int64_t each = routed.index->sizes[1];
  const std::vector<std::int64_t> shares = tokens_of_experts(play.facts.routing, count_, tokens, each);
  const Tensor final_states = t.pointwise({&hidden}, routed.weights->dtype, "aten::zeros_like");
  const Tensor expert_mask = t.empty({tokens, each, count_ + 1}, DType::int64, "aten::zeros");
  t.empty({count_ + 1}, DType::int64, "aten::sum");
  const Tensor expert_hit = t.empty({std::ssize(shares), 1}, DType::int64, "aten::nonzero");
  Tensor token;
  Tensor current;
  Tensor states;
  for (const std::int64_t share : shares) {
    token = t.empty({share, 2}, DType::int64, "aten::nonzero");
    const Tensor rows = t.alias(token, {share}, {2});
    current = t.index_rows(hidden, rows);
    states = t.linear(current, t.select(up(), 0), {});
    states = activation_(t, states);
    states = t.linear(states, t.select(down(), 0), {});
    states = t.mul(states, weights_at(t, routed.weights, rows));
    t.index_add_(final_states, rows, t.to(states, final_states->dtype));
  }
  return t.to(final_states, hidden->dtype);
}

}  // namespace oomplan::estimator
