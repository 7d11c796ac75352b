#include "modules/scatter_moe.hpp"

#include <algorithm>

#include "modules/four_bits.hpp"

namespace oomplan::estimator {
namespace {

constexpr const char* scatter2scatter = "scattermoe::scatter2scatter";

enum Slot : std::uint8_t {
  input,
  weights,
  expert_of_row,
  row_order,
  row_offsets,
  row_gates,
  expanded,
  matrix_a,
  matrix_b
};
enum Number : std::uint8_t { fan_out, has_gates, blocks, nested };

struct Backward {
  Tensor x{}, weight{}, experts{}, order{}, offsets{}, gates{}, made{}, a{}, b{};
  Tensor grad{};  ///< Of the rows in their experts' order.
};

/// Experts × in × out.
std::int64_t width_out(const Tensor& weight) { return weight->sizes[2]; }

// ParallelLinear.backward and ScatterMoELoRA.backward begin alike: the gates' gradient, and the rows' in order, which
// takes the place of what the experts made.
void begin(Torch& t, Node& n, Grads& g, Backward& b, const Tensor& weight) {
  b.x = t.unpack(n, input);
  b.weight = weight;
  b.experts = t.unpack(n, expert_of_row);
  b.order = t.unpack(n, row_order);
  b.offsets = t.unpack(n, row_offsets);
  b.grad = g.in[0];
  if (n.ints[has_gates] == 0) return;
  b.gates = t.unpack(n, row_gates);
  b.made = t.unpack(n, expanded);
  const Tensor grad = t.to(b.grad, b.made->dtype);
  g.out[2] = t.empty(b.gates->sizes, b.made->dtype, "aten::bmm");
  b.grad = t.view(b.made, {-1, b.made->sizes.back()});
}

/// The rows that were multiplied, and what their gradient is written to.
std::pair<Tensor, Tensor> rows_of(Torch& t, const Node& n, const Backward& b) {
  if (n.ints[has_gates] != 0) return {b.x, {}};
  const Tensor rows = t.empty({b.experts->sizes[0], b.x->sizes.back()}, b.x->dtype, "scattermoe::group");
  return {rows, rows};
}

Tensor product_for_input(Torch& t, const Backward& b, const Tensor& into) {
  if (into) return into;
  return t.empty({b.experts->sizes[0], b.x->sizes.back()}, b.grad->dtype, scatter2scatter);
}

/// Summed over a token's experts.
Tensor of_tokens(Torch& t, const Node& n, const Backward& b, const Tensor& rows) {
  if (n.ints[fan_out] == 1) return rows;
  return t.empty(b.x->sizes, rows->dtype, "aten::sum");
}

// The weights' gradient is made whether it is asked for or not.
void parallel_linear_backward(Torch& t, Node& n, Grads& g) {
  Backward b;
  begin(t, n, g, b, t.unpack(n, weights));
  const auto [rows, into] = rows_of(t, n, b);
  const Dims& sizes = b.weight->sizes;
  const Tensor of_weights = t.zeros({sizes[0], sizes[2], sizes[1]}, b.grad->dtype);
  const Tensor of_rows = product_for_input(t, b, into);
  g.out[0] = of_tokens(t, n, b, of_rows);
  if (n.needs(1)) g.out[1] = t.transpose(of_weights, 1, 2);
}

Tensor rebuilt(Torch& t, const Node& n) {
  return t.transpose(dequantized(t, n.dims, n.ints[blocks], n.ints[nested] != 0, n.outputs[0].dtype), 1, 2);
}

void scatter_lora_backward(Torch& t, Node& n, Grads& g) {
  Backward b;
  begin(t, n, g, b, n.ints[blocks] != 0 ? Tensor() : n.attribute);
  b.a = t.unpack(n, matrix_a);
  b.b = t.unpack(n, matrix_b);
  if (!b.weight) b.weight = rebuilt(t, n);
  const auto [rows, into] = rows_of(t, n, b);
  const std::int64_t count = b.experts->sizes[0];
  const std::int64_t rank = b.a->sizes[0] / b.weight->sizes[0];
  const Tensor b_by_expert = t.empty(b.b->sizes, b.b->dtype, "aten::clone");
  const Tensor yb = t.empty({count, rank}, b.grad->dtype, scatter2scatter);
  const Tensor a_by_expert = t.empty(b.a->sizes, b.a->dtype, "aten::clone");
  const Tensor xa = t.empty({count, rank}, rows->dtype, scatter2scatter);
  g.out[3] = t.empty(b.a->sizes, b.a->dtype, "aten::empty_like");
  g.out[4] = t.empty(b.b->sizes, b.b->dtype, "aten::empty_like");
  const Tensor of_rows = product_for_input(t, b, into);
  const Tensor of_lora = t.empty({count, b.a->sizes[1]}, yb->dtype, scatter2scatter);
  if (into) const Tensor taken = t.empty(of_rows->sizes, of_rows->dtype, "aten::index");
  g.out[0] = of_tokens(t, n, b, of_rows);
}

/// _scatter2scatter_lora_split, of few large experts.
void add_lora_apart(Torch& t, const Tensor& x, const Tensor& a, const Tensor& b, std::int64_t experts,
                    std::int64_t rows) {
  const std::int64_t rank = a->sizes[0] / experts;
  const Tensor a_by_expert = t.empty(a->sizes, a->dtype, "aten::clone");
  const Tensor xa = t.empty({rows, rank}, x->dtype, scatter2scatter);
  const Tensor b_by_expert = t.empty(b->sizes, b->dtype, "aten::clone");
  const Tensor product = t.empty({rows, b->sizes[0]}, x->dtype, scatter2scatter);
}

bool is_apart(std::int64_t experts, std::int64_t elements) {
  constexpr std::int64_t most_experts = 32;   // _SPLIT_LORA_FWD_MAX_EXPERTS
  constexpr std::int64_t least = 20'000'000;  // _SPLIT_LORA_FWD_THRESHOLD
  return experts <= most_experts && elements >= least;
}

}  // namespace

ScatteredRows scattered_rows(Torch& t, const Routed& routed, std::int64_t experts) {
  ScatteredRows out;
  out.each = routed.index->sizes[1];
  const std::int64_t all = saturating_mul(routed.index->sizes[0], out.each);
  out.active = std::min(experts, all);
  out.experts = t.empty({all}, DType::int64, "aten::sort");
  out.order = t.empty({all}, DType::int64, "aten::sort");
  const Tensor counts = t.empty({experts}, DType::int64, "scattermoe::bincount");
  out.offsets = t.empty({experts}, DType::int64, "aten::cumsum");
  return out;
}

// experts_lora_fastpath.py: peft's matrices, cast; peft_lora_B_to_scattermoe copies B.
ScatteredWeight::ScatteredWeight(Play& play, const AdaptedParameter& parameter, DType dtype) : parameter_(parameter) {
  if (!parameter.adapted(play.facts)) return;
  Torch& t = play.torch;
  a_ = t.to(parameter.lora_a(), dtype);
  const Tensor b = t.to(parameter.lora_b(), dtype);
  const std::int64_t experts = parameter.sizes()[0];
  const Tensor by_expert = t.permute(t.view(b, {b->sizes[0], -1, experts}), {0, 2, 1});
  b_ = t.view(t.contiguous(by_expert), {b->sizes[0], -1});
  whole_a_ = a_;
  whole_b_ = b_;
}

void ScatteredWeight::choose(Play& play, const ScatteredRows& rows) {
  Dims sizes = parameter_.sizes();
  if (parameter_.blocks() != 0) sizes[0] = rows.active;
  weight_ = play.torch.transpose(parameter_.for_experts(play, sizes), 1, 2);
}

// selective_lora_weights
void ScatteredWeight::choose_adapter(Torch& t, const ScatteredRows& rows) {
  if (!a_ || parameter_.blocks() == 0) return;
  const std::int64_t rank = a_->sizes[0] / parameter_.sizes()[0];
  const Tensor taken = t.empty({saturating_mul(rows.active, rank)}, DType::int64, "aten::add");
  a_ = t.index_rows(a_, taken);
  b_ = t.transpose(t.index_rows(t.transpose(b_, 0, 1), taken), 0, 1);
}

Tensor ScatteredWeight::operator()(Play& play, const Tensor& x, const ScatteredRows& rows, const Tensor& gates) const {
  Torch& t = play.torch;
  NodeRef node = a_ ? t.record("ScatterMoELoRABackward", {&x, &weight_, &gates, &a_, &b_}, scatter_lora_backward)
                    : t.record("ParallelLinearBackward", {&x, &weight_, &gates}, parallel_linear_backward);
  const bool recipe = a_ && parameter_.blocks() != 0 && weight_->dtype == x->dtype;
  const std::int64_t count = rows.experts->sizes[0];
  Tensor out;
  {
    Restore no_grad(t.grad_enabled, false);
    const Tensor weight = t.to(weight_, x->dtype);
    out = t.empty({count, width_out(weight)}, x->dtype, scatter2scatter);
    if (a_ && is_apart(weight->sizes[0], weight->sizes[1] * weight->sizes[2])) {
      add_lora_apart(t, x, a_, b_, weight->sizes[0], count);
    }
    Tensor made;
    if (gates) {
      made = t.view(out, {gates->sizes[0], gates->sizes[1], -1});
      out = t.squeeze(t.matmul(t.unsqueeze(gates, 1), made), 1);
    }
    if (node) {
      node->ints = {gates ? 1 : rows.each, gates ? 1 : 0, recipe ? parameter_.blocks() : 0,
                    play.facts.double_quantized ? 1 : 0};
      node->dims = {weight->sizes[0], weight->sizes[2], weight->sizes[1]};
    }
    t.save(node, input, x);
    if (!a_) t.save(node, weights, weight);
    if (a_ && !recipe) t.hold(node, weight);
    if (a_) t.save(node, matrix_a, a_);
    if (a_) t.save(node, matrix_b, b_);
    t.save(node, expert_of_row, rows.experts);
    t.save(node, row_order, rows.order);
    t.save(node, row_offsets, rows.offsets);
    if (gates) t.save(node, row_gates, gates);
    if (gates) t.save(node, expanded, made);
  }
  return t.attach(node, std::move(out));
}

}  // namespace oomplan::estimator
