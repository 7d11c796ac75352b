// Llama4TextMoe: every expert is given every token, times its score, which is 0 for all but the chosen ones.
#include "modules/activation.hpp"
#include "modules/adapted_parameter.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

/// full_like(logits, -inf).scatter_(1, indices, values)
Tensor scattered(Torch& t, const Tensor& logits, const Tensor& index, const Tensor& values) {
  NodeRef node = t.record("ScatterBackward0", {&values}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor at = torch.unpack(n, 0);
    g.out[0] = torch.empty(at->sizes, g.in[0]->dtype, "aten::gather");
  });
  t.save(node, 0, index);
  return t.attach(node, t.empty(logits->sizes, logits->dtype, "aten::full_like"));
}

/// x.repeat(times, 1)
Tensor repeated(Torch& t, const Tensor& x, std::int64_t times) {
  NodeRef node = t.record("RepeatBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::sum");
  });
  if (node) node->dims = x->sizes;
  return t.attach(node, t.empty({saturating_mul(times, x->sizes[0]), x->sizes[1]}, x->dtype, "aten::repeat"));
}

class Llama4Moe final : public Module {
 public:
  Llama4Moe(const Attributes& a, Builder& b)
      : experts_(a.integer("experts")),
        inner_(a.integer("inner")),
        each_(a.integer("per_token")),
        activation_(find_activation(a.text("activation", "silu"), b)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    gate_up_ =
        AdaptedParameter(b, m + "experts.gate_up_proj", {experts_, width, saturating_mul(2, inner_)}, Part::expert);
    down_ = AdaptedParameter(b, m + "experts.down_proj", {experts_, inner_, width}, Part::expert);
    router_ = b.weight(m + "router.weight", {experts_, width}, Part::router);
    if (b.facts.adapts() && b.targeted(m + "router", true)) {
      a.unmodelled("LoRA on the router, a linear layer that returns a tuple, which peft cannot run,");
    }
    gate_proj_ = Linear(b, m + "shared_expert.gate_proj", width, inner_, false);
    up_proj_ = Linear(b, m + "shared_expert.up_proj", width, inner_, false);
    down_proj_ = Linear(b, m + "shared_expert.down_proj", inner_, width, false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Dims sizes = s.hidden->sizes;
    const Tensor hidden = t.view(s.hidden, {-1, sizes.back()});
    const Tensor logits = t.linear(hidden, router_, {});
    const Tensor scores = scores_of(t, logits);
    Tensor routed_in = repeated(t, hidden, experts_);
    routed_in = t.mul(routed_in, t.reshape(t.transpose(scores, 0, 1), {-1, 1}));
    const Tensor routed_out = experts(play, routed_in);
    Tensor out = shared(play, hidden);
    out = t.add_(out, t.sum_dim(t.view(routed_out, {experts_, -1, sizes.back()}), 0, false));
    s.hidden = t.view(out, sizes);
  }

 private:
  Tensor scores_of(Torch& t, const Tensor& logits) const {
    const auto [values, index] = t.topk_last(logits, each_);
    const Tensor scores = scattered(t, logits, index, values);
    return t.to(t.sigmoid(t.to(scores, DType::fp32)), scores->dtype);
  }

  Tensor experts(Play& play, const Tensor& routed_in) const {
    Torch& t = play.torch;
    AdaptedParameter::Active down(play, down_);
    AdaptedParameter::Active gate_up(play, gate_up_);
    const Tensor hidden = t.view(routed_in, {experts_, -1, routed_in->sizes[1]});
    const Tensor both = t.bmm(hidden, gate_up());
    const std::vector<Tensor> parts = t.split(both, inner_, 2);
    const Tensor next = t.bmm(t.mul(parts[1], activation_(t, parts[0])), down());
    return t.view(next, {-1, routed_in->sizes[1]});
  }

  Tensor shared(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor gate = activation_(t, gate_proj_(play, x));
    return down_proj_(play, t.mul(gate, up_proj_(play, x)));
  }

  std::int64_t experts_;
  std::int64_t inner_;
  std::int64_t each_;
  Activation activation_;
  std::int32_t module_;
  AdaptedParameter gate_up_{};
  AdaptedParameter down_{};
  Tensor router_{};
  Linear gate_proj_{}, up_proj_{}, down_proj_{};
};

}  // namespace

extern const OpType llama4_moe;
const OpType llama4_moe{"llama4_moe", make_module<Llama4Moe>};

}  // namespace oomplan::estimator::ops
