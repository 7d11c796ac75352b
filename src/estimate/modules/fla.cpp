// fla/ops/gated_delta_rule/chunk.py and fla/modules/fused_norm_gate.py of fla-core 0.4.1.
#include "modules/fla.hpp"

#include "modules/liger.hpp"

namespace oomplan::estimator::fla {
namespace {

constexpr std::int64_t key_block = 64;  // Where a multiprocessor has 100 KiB of shared memory; else twice the sums.

Tensor like(Torch& t, const Tensor& x) { return t.empty(x->sizes, x->dtype, "aten::empty_like"); }

Tensor states(Torch& t, const Tensor& k, const Tensor& v) {
  const Dims& sizes = k->sizes;
  return t.empty({sizes[0], divided_up(sizes[1], delta_chunk), sizes[2], sizes[3], v->sizes[3]}, k->dtype,
                 "aten::new_empty");
}

struct Normed {
  Tensor x{};
  Tensor rstd{};
};

Normed l2_norm(Torch& t, const Tensor& x) {
  return {like(t, x), t.empty({x->numel() / x->sizes.back()}, DType::fp32, "aten::empty")};
}

enum Slot : int { query, query_rstd, key, key_rstd, value, decay, beta, system };

// What is made in one function lives until it returns.
void delta_backward(Torch& t, Node& n, Grads& g) {
  const Tensor grad = t.contiguous(g.in[0]);
  const Tensor q = t.unpack(n, query);
  const Tensor q_rstd = t.unpack(n, query_rstd);
  const Tensor k = t.unpack(n, key);
  const Tensor k_rstd = t.unpack(n, key_rstd);
  const Tensor v = t.unpack(n, value);
  const Tensor sums = t.unpack(n, decay);
  const Tensor b = t.unpack(n, beta);
  const Tensor solved = t.unpack(n, system);
  Tensor of_q, of_k, of_v, of_decay, of_beta;
  {
    const Tensor w = like(t, k);
    const Tensor u = like(t, v);
    const Tensor h = states(t, k, v);
    const Tensor v_new = like(t, u);
    of_v = like(t, grad);
    const Tensor of_h = states(t, q, grad);
    of_v = like(t, of_v);
    of_q = like(t, q);
    of_k = like(t, k);
    Dims parts{divided_up(k->sizes[3], key_block)};
    for (int i = 0; i < sums->sizes.size(); ++i) parts.push(sums->sizes[i]);
    of_decay = t.empty(parts, DType::fp32, "aten::empty");
    const Tensor of_w = like(t, w);
    of_decay = t.empty(sums->sizes, DType::fp32, "aten::sum");
    const Tensor also_of_k = like(t, k);
    Tensor also_of_v = like(t, v);
    const Tensor also_of_decay = like(t, sums);
    of_beta = like(t, b);
    of_v = std::move(also_of_v);
    of_decay = t.empty(sums->sizes, DType::fp32, "aten::empty_like");
  }
  of_q = like(t, q);
  of_k = like(t, k);
  std::array<Tensor, 5> all{std::move(of_q), std::move(of_k), std::move(of_v), std::move(of_decay), std::move(of_beta)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (n.needs(static_cast<int>(i))) g.out[i] = std::move(all[i]);
  }
}

void norm_backward(Torch& t, Node& n, Grads& g) {
  const Tensor grad = t.contiguous(g.in[0]);
  const Tensor x = t.unpack(n, 0);
  const Tensor gate = t.unpack(n, 1);
  const Tensor weight = t.unpack(n, 2);
  const Tensor rstd = t.unpack(n, 3);
  Tensor of_x = t.empty(x->sizes, x->dtype, "aten::empty");
  Tensor of_gate = t.empty(x->sizes, x->dtype, "aten::empty");
  Tensor of_weight;
  {
    const Tensor partial = t.empty({liger::multiprocessors, x->sizes[1]}, DType::fp32, "aten::empty");
    of_weight = t.to(t.empty(weight->sizes, DType::fp32, "aten::sum"), weight->dtype);
  }
  if (n.needs(0)) g.out[0] = std::move(of_x);
  if (n.needs(1)) g.out[1] = std::move(of_gate);
  if (n.needs(2)) g.out[2] = std::move(of_weight);
}

}  // namespace

Tensor chunk_gated_delta_rule(Torch& t, const DeltaInputs& in) {
  NodeRef node = t.record("ChunkGatedDeltaRuleFunctionBackward", {&in.query, &in.key, &in.value, &in.decay, &in.beta},
                          delta_backward);
  Tensor out;
  {
    Restore no_grad(t.grad_enabled, false);
    const Tensor q = t.contiguous(in.query);
    const Tensor k = t.contiguous(in.key);
    const Tensor v = t.contiguous(in.value);
    const Tensor given = t.contiguous(in.decay);
    const Tensor b = t.contiguous(in.beta);
    const Normed of_q = l2_norm(t, q);
    const Normed of_k = l2_norm(t, k);
    const Tensor sums = t.empty(given->sizes, DType::fp32, "aten::empty_like");
    const Dims square{k->sizes[0], k->sizes[1], k->sizes[2], delta_chunk};
    Tensor solved = t.empty(square, DType::fp32, "aten::empty");
    solved = t.empty(square, k->dtype, "aten::zeros_like");
    {
      const Tensor w = like(t, k);
      const Tensor u = like(t, v);
      const Tensor h = states(t, k, v);
      const Tensor v_new = like(t, u);
      out = like(t, v_new);
    }
    t.save(node, query, of_q.x);
    t.save(node, query_rstd, of_q.rstd);
    t.save(node, key, of_k.x);
    t.save(node, key_rstd, of_k.rstd);
    t.save(node, value, v);
    t.save(node, decay, sums);
    t.save(node, beta, b);
    t.save(node, system, solved);
  }
  return t.attach(node, std::move(out));
}

Tensor rms_norm_gated(Torch& t, const Tensor& x, const Tensor& gate, const Tensor& weight) {
  NodeRef node = t.record("LayerNormGatedFunctionBackward", {&x, &gate, &weight}, norm_backward);
  Tensor out;
  {
    Restore no_grad(t.grad_enabled, false);
    const Tensor rows = t.contiguous(x);
    const Tensor gates = t.contiguous(gate);
    out = like(t, rows);
    const Tensor rstd = t.empty({rows->sizes[0]}, DType::fp32, "aten::empty");
    t.save(node, 0, rows);
    t.save(node, 1, gates);
    t.save(node, 2, weight);
    t.save(node, 3, rstd);
  }
  return t.attach(node, std::move(out));
}

}  // namespace oomplan::estimator::fla
