// GptOssMLP: experts with biases, whose matrices are laid out input by output, and a gate of clamped parts that stand
// in turn; the router takes the softmax of the highest logits.
#include "modules/experts.hpp"
#include "modules/linear.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

class BiasedMoe final : public Module {
 public:
  BiasedMoe(const Attributes& a, Builder& b)
      : count_(a.integer("experts")),
        each_(a.integer("per_token")),
        older_(a.find(older_code) != nullptr),
        router_module_(b.module_id(a.module() + ".router")),
        module_(b.module_id(a.module() + ".experts")) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = a.integer("inner");
    const std::int64_t both = saturating_mul(2, inner);
    router_ = AdaptedParameter(b, m + "router.weight", {count_, width}, Part::router);
    router_bias_ = b.weight(m + "router.bias", {count_}, Part::bias);
    gate_up_ = AdaptedParameter(b, m + "experts.gate_up_proj", {count_, width, both}, Part::expert);
    gate_up_bias_ = b.weight(m + "experts.gate_up_proj_bias", {count_, both}, Part::expert);
    down_ = AdaptedParameter(b, m + "experts.down_proj", {count_, inner, width}, Part::expert);
    down_bias_ = b.weight(m + "experts.down_proj_bias", {count_, width}, Part::expert);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Dims sizes = s.hidden->sizes;
    const Tensor hidden = t.reshape(s.hidden, {-1, sizes.back()});
    const Routed routed = route(play, hidden);
    if (s.arguments.router_logits) s.arguments.router_logits->take(routed.logits, each_);
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Weight down(play, down_);
    Weight gate_up(play, gate_up_);
    const Tensor out = experts(play, hidden, routed, gate_up, down);
    s.hidden = t.reshape(out, sizes);
    s.attn_weights = routed.weights;  // The block's `_`, which held those of attention before.
  }

 private:
  using Weight = AdaptedParameter::Active;

  Routed route(Play& play, const Tensor& hidden) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{router_module_});
    Weight weight(play, router_);
    const Tensor logits = t.linear(hidden, weight(), router_bias_);
    auto [highest, index] = t.topk_last(logits, each_);
    if (older_) return {scattered(t, logits, t.softmax_last(highest, highest->dtype), index), index, logits};
    return {t.softmax_last(highest, highest->dtype), index, logits};
  }

  /// torch.zeros_like(logits).scatter_(1, index, weights): older code hands on weights of all experts.
  static Tensor scattered(Torch& t, const Tensor& logits, const Tensor& weights, const Tensor& index) {
    NodeRef node = t.record("ScatterBackward0", {&weights}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor at = torch.unpack(n, 0);
      g.out[0] = torch.empty(at->sizes, g.in[0]->dtype, "aten::gather");
    });
    t.save(node, 0, index);
    return t.attach(node, t.zeros(logits->sizes, weights->dtype));
  }

  Tensor experts(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const {
    switch (play.facts.experts) {
      case ExpertsImplementation::eager:
        return eager(play, hidden, routed, gate_up, down);
      case ExpertsImplementation::batched_mm:
        return batched(play, hidden, routed, gate_up, down);
      case ExpertsImplementation::grouped_mm:
      case ExpertsImplementation::scattermoe:
        break;
    }
    return grouped(play, hidden, routed, gate_up, down);
  }

  /// clamp(min=None, max=limit)
  static Tensor clamped_above(Torch& t, const Tensor& x) {
    NodeRef node = t.record("ClampBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor self = torch.unpack(n, 0);
      const Tensor below = torch.pointwise({&self}, DType::boolean, "aten::le");
      g.out[0] = torch.pointwise({&below, &g.in[0]}, g.in[0]->dtype, "aten::where");
    });
    t.save(node, 0, x);
    return t.attach(node, t.pointwise({&x}, x->dtype, "aten::clamp"));
  }

  /// _apply_gate
  static Tensor gated(Torch& t, const Tensor& both) {
    Tensor gate = t.every_other(both);
    Tensor up = t.every_other(both);
    gate = clamped_above(t, gate);
    up = t.clamp(up);
    Tensor glu = t.mul_scalar(gate);
    glu = t.sigmoid(glu);
    glu = t.mul(gate, glu);
    const Tensor raised = t.add_scalar(up);
    return t.mul(raised, glu);
  }

  /// torch._grouped_mm by groups × in × out, and the biases added in place.
  static Tensor grouped_linear(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& offsets,
                               const Tensor& bias) {
    const Tensor input = t.to(x, weight->dtype);
    NodeRef node = t.record("GroupedMmBackward0", {&input, &weight}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor a = torch.unpack(n, 0);
      const Tensor w = torch.unpack(n, 1);
      const Tensor ends = torch.unpack(n, 2);
      const char* op = "aten::_grouped_mm";
      if (n.needs(1)) g.out[1] = torch.empty(n.dims, g.in[0]->dtype, op);
      if (n.needs(0)) g.out[0] = torch.empty({g.in[0]->sizes[0], n.dims[1]}, g.in[0]->dtype, op);
    });
    if (node) node->dims = weight->sizes;
    if (node && node->needs(1)) t.save(node, 0, input);
    if (node && node->needs(0)) t.save(node, 1, weight);
    t.save(node, 2, offsets);
    t.recorder.multiply();
    const Tensor out = t.empty({x->sizes[0], weight->sizes[2]}, input->dtype, "aten::_grouped_mm");
    return t.add_(t.attach(node, out), bias);
  }

  Tensor grouped(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const {
    Torch& t = play.torch;
    const RowsByExpert rows = rows_by_expert(t, hidden, routed, count_);
    Tensor biases = t.index_rows(gate_up_bias_, rows.experts);
    Tensor out = grouped_linear(t, rows.hidden, gate_up(), rows.offsets, biases);
    out = gated(t, out);
    biases = t.index_rows(down_bias_, rows.experts);
    out = grouped_linear(t, out, down(), rows.offsets, biases);
    return summed_by_token(t, out, rows, hidden);
  }

  /// Each row with a matrix of its own.
  static Tensor batched_linear(Torch& t, const Tensor& x, const Tensor& weights, const Tensor& biases) {
    return t.add_(t.squeeze(t.bmm(t.unsqueeze(x, 1), weights), 1), biases);
  }

  Tensor batched(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const {
    Torch& t = play.torch;
    const Tensor selected = t.repeat_rows(hidden, each_);
    const Tensor sample_weights = t.view(routed.weights, {-1});
    const Tensor expert_ids = t.view(routed.index, {-1});
    Tensor weights = t.index_rows(gate_up(), expert_ids);
    Tensor biases = t.index_rows(gate_up_bias_, expert_ids);
    Tensor out = batched_linear(t, selected, weights, biases);
    out = gated(t, out);
    weights = t.index_rows(down(), expert_ids);
    biases = t.index_rows(down_bias_, expert_ids);
    out = batched_linear(t, out, weights, biases);
    return summed_by_token(t, out, sample_weights, hidden);
  }

  /// x @ weight[expert] + bias[expert]
  static Tensor of_expert(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const Tensor product = t.matmul(x, t.select(weight, 0));
    return t.add(product, t.select(bias, 0));
  }

  Tensor eager(Play& play, const Tensor& hidden, const Routed& routed, Weight& gate_up, Weight& down) const {
    Torch& t = play.torch;
    const std::int64_t tokens = hidden->sizes[0];
    const std::vector<std::int64_t> shares = tokens_of_experts(play.facts.routing, count_, tokens, each_);
    const std::int64_t masks = older_ ? count_ + 1 : count_;  // Masking is one more class.
    const Tensor next_states = t.pointwise({&hidden}, hidden->dtype, "aten::zeros_like");
    const Tensor expert_mask = t.empty({tokens, each_, masks}, DType::int64, "aten::zeros");
    t.empty({masks}, DType::int64, "aten::sum");
    const Tensor expert_hit = t.empty({std::ssize(shares), 1}, DType::int64, "aten::nonzero");
    Tensor token, current, both, inner, out, weighted;
    for (const std::int64_t share : shares) {
      token = t.empty({share, 2}, DType::int64, "aten::nonzero");
      const Tensor rows = t.alias(token, {share}, {2});
      current = t.index_rows(hidden, rows);
      both = of_expert(t, current, gate_up(), gate_up_bias_);
      inner = gated(t, both);
      out = of_expert(t, inner, down(), down_bias_);
      weighted = t.mul(out, weights_at(t, routed.weights, rows));
      t.index_add_(next_states, rows, t.to(weighted, hidden->dtype));
    }
    return next_states;
  }

  std::int64_t count_;
  std::int64_t each_;
  bool older_;
  std::int32_t router_module_;
  std::int32_t module_;
  AdaptedParameter router_{}, gate_up_{}, down_{};
  Tensor router_bias_{}, gate_up_bias_{}, down_bias_{};
};

}  // namespace

extern const OpType biased_moe;
const OpType biased_moe{"biased_moe", make_module<BiasedMoe>};

}  // namespace oomplan::estimator::ops
