#include "modules/dora.hpp"

namespace oomplan::estimator {
namespace {

// get_lora_weight: the identity goes through both matrices, so that FSDP's hooks see it.
Tensor whole_update(Torch& t, const Tensor& lora_a, const Tensor& lora_b) {
  const std::int64_t in = lora_a->sizes[1];
  const Tensor identity = t.empty({in, in}, lora_a->dtype, "aten::eye");
  return t.t(t.linear(t.linear(identity, lora_a, {}), lora_b, {}));
}

// get_weight_norm, of what needs no gradient.
Tensor norm_of_sum(Torch& t, const Tensor& weight, const Tensor& update) {
  Tensor scaled = t.mul_scalar(update);
  const Tensor sum = t.add(weight, scaled);
  scaled.reset();
  return t.empty({sum->sizes[0]}, sum->dtype, "aten::linalg_vector_norm");
}

Tensor divided(Torch& t, const Tensor& x, const Tensor& by) {
  NodeRef node = t.record("DivBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor other = torch.unpack(n, 0);
    g.out[0] = torch.pointwise({&g.in[0], &other}, g.in[0]->dtype, "aten::div");
  });
  t.save(node, 0, by);
  return t.attach(node, t.pointwise({&x, &by}, x->dtype, "aten::div"));
}

}  // namespace

// Its names hold the update, with its graph, and the weight in the adapter's dtype until it returns.
Tensor Dora::operator()(Play& play, Tensor x, const Tensor& result) const {
  Torch& t = play.torch;
  const bool module_drops = t.training && play.facts.lora_dropout > 0;  // No Identity, also where its p is 0 now.
  x = t.dropout(x, play.facts.lora_dropout);
  const Tensor update = t.to(whole_update(t, lora_a, lora_b), x->dtype);
  const Tensor cast = t.to(weight(), x->dtype);
  const Tensor whole = turned ? t.t(cast) : cast;
  const Tensor norm = norm_of_sum(t, whole, t.detach(update));
  const Tensor scale = t.view(divided(t, magnitude, norm), {1, -1});
  const Tensor low_rank = t.linear(t.linear(x, lora_a, {}), lora_b, {});
  const Tensor base = module_drops ? t.linear(x, whole, {}) : bias ? t.sub(result, bias) : result;
  const Tensor of_base = t.mul(t.add_scalar(scale), base);
  Tensor of_update = t.mul(scale, low_rank);
  of_update = t.mul_scalar(of_update);
  return t.add(of_base, of_update);
}

// Its names hold all but the norm's operands until it returns.
Tensor own_dora(Play& play, Tensor x, const Tensor& base, const OwnDora& adapter,
                const std::function<Tensor()>& weight) {
  Torch& t = play.torch;
  x = t.dropout(x, play.facts.lora_dropout);
  const Tensor low_rank = t.linear(t.linear(x, adapter.lora_a, {}), adapter.lora_b, {});
  const std::int64_t in = adapter.lora_a->sizes[1];
  const Tensor identity = t.empty({in, in}, x->dtype, "aten::eye");
  const Tensor update = t.t(t.linear(t.linear(identity, adapter.lora_a, {}), adapter.lora_b, {}));
  const Tensor whole = weight();
  const Tensor norm = norm_of_sum(t, whole, t.detach(update));
  const Tensor scale = t.view(divided(t, adapter.magnitude, norm), {1, -1});
  Tensor out;
  {
    const Tensor of_base = t.mul(t.add_scalar(scale), base);
    Tensor of_update = t.mul(scale, low_rank);
    of_update = t.mul_scalar(of_update);
    out = t.add(of_base, of_update);
  }
  return t.add(out, base);
}

}  // namespace oomplan::estimator
