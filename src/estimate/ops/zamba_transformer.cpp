// The transformer of Zamba's and Zamba-2's hybrid layers, and the projection after it: attention and MLP of the hidden
// states beside the embedding's output. Its weights are those of one of a few sets in turn; Zamba-2 has low-rank
// adapters (`fused`) of each layer, all of which the modules of every layer of a set hold. The layer's Mamba block is
// given the sum; it is a checkpoint in the layer's own, and what it is given by name outlives the layer's function.
#include <algorithm>
#include <array>

#include "modules/activation.hpp"
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

/// Of the layers with a transformer, the how-manyth the one being built is, and how many there are.
struct Place {
  std::int64_t index = 0;
  std::int64_t count = 0;
};

Place place_of(const Builder& b) {
  Place out;
  const Segment& segment = b.architecture.body.front();
  for (std::int64_t i = 0; i < std::ssize(segment.layers); ++i) {
    const std::vector<OpSpec>& ops = segment.kinds[segment.layers[static_cast<std::size_t>(i)]];
    if (std::ranges::none_of(ops, [](const OpSpec& op) { return op.op == "zamba_transformer"; })) continue;
    if (i < b.first_layer) ++out.index;
    ++out.count;
  }
  return out;
}

/// torch.nn.Sequential of two linear layers for each layer of the set, of which one is the layer's own.
class Adapters {
 public:
  Adapters() = default;
  Adapters(Builder& b, const std::string& list, const Place& place, std::int64_t sets,
           std::array<std::int64_t, 3> widths)
      : own_(static_cast<std::size_t>(place.index / sets)) {
    for (std::int64_t i = place.index % sets; i < place.count; i += sets) {
      const std::string m = list + "." + std::to_string(i);
      first_.emplace_back(b, m + ".0", widths[0], widths[1], false);
      second_.emplace_back(b, m + ".1", widths[1], widths[2], false);
    }
  }

  /// result + the adapter's, where there is one.
  Tensor added(Play& play, const Tensor& result, const Tensor& x) const {
    if (first_.empty()) return result;
    return play.torch.add(result, second_[own_](play, first_[own_](play, x)));
  }

 private:
  std::size_t own_ = 0;
  std::vector<Linear> first_{}, second_{};
};

class ZambaTransformer final : public Module {
 public:
  ZambaTransformer(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        inner_(a.integer("inner")),
        fused_(a.flag("fused", false)),
        rotary_(a.flag("turned", false)),
        kind_{.dropout = a.number("dropout", 0.0)},
        activation_(find_activation(a.text("activation", "gelu"), b)),
        module_(b.module_id(a.module())) {
    if (b.facts.quantized) a.unmodelled("quantized weights that layers share");
    const std::int64_t width = a.integer("width");
    const Place place = place_of(b);
    const std::int64_t sets = a.integer("sets", 1);
    constexpr std::int64_t most_layers = 64;
    if (place.count > most_layers) {
      a.unmodelled("so many layers with a transformer that they share");
      return;
    }
    {
      Restore shared(b.shared_set, std::to_string(place.index % sets));
      make_attention(a, b, place, sets, a.integer("attention_width"));
      make_mlp(a, b, place, sets, width);
      norm_ = RmsNorm(b, a.module() + ".input_layernorm", saturating_mul(2, width));
      mlp_norm_ = RmsNorm(b, a.module() + ".pre_ff_layernorm", width);
    }
    linear_ = Linear(b, "linear", width, width, false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const NodeRef layer = begin_again(play, s.hidden);
    {
      Restore module(t.recorder.scope.module, std::int32_t{module_});
      s.attn_output = transformed(play, s);
      s.attn_weights.reset();
    }
    s.attn_output = linear_(play, s.attn_output);
    s.residual = s.hidden;
    if (t.recomputes()) {  // The inner checkpoint runs with the tensor of the first time.
      s.attn_output.reset();
      s.hidden = t.add_scalar(s.hidden);
      return;
    }
    if (layer) {  // What the inner checkpoint returned while nothing was saved, and its argument, until all has run.
      Torch::keep(layer, 0, s.attn_output);
      Torch::keep(layer, 1, t.empty(s.hidden->sizes, s.hidden->dtype, "aten::add"));
    }
    s.hidden = t.add(s.hidden, s.attn_output);
    if (t.packs()) Torch::keep(s.hidden->grad_fn, 0, s.attn_output);
  }

 private:
  /// Where a reentrant checkpoint runs again, a node of the whole layer.
  static NodeRef begin_again(Play& play, Tensor& hidden) {
    Torch& t = play.torch;
    if (!play.facts.checkpointing || !play.facts.reentrant || !t.training || !t.grad_enabled) return {};
    NodeRef node = t.record("ZambaLayer", {&hidden}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
    if (node) hidden = t.attach(node, t.alias(hidden, hidden->sizes, hidden->strides));
    return node;
  }

  void make_attention(const Attributes& a, Builder& b, const Place& place, std::int64_t sets, std::int64_t width) {
    const std::string m = a.module() + ".self_attn.";
    const std::int64_t q = saturating_mul(a.integer("heads"), head_dim_);
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    q_proj_ = Linear(b, m + "q_proj", width, q, false);
    k_proj_ = Linear(b, m + "k_proj", width, kv, false);
    v_proj_ = Linear(b, m + "v_proj", width, kv, false);
    o_proj_ = Linear(b, m + "o_proj", q, a.integer("width"), false);
    if (!a.flag("attention_adapters", false)) return;
    const std::array widths{width, a.integer("rank"), width};
    q_adapters_ = Adapters(b, m + "linear_q_adapter_list", place, sets, widths);
    k_adapters_ = Adapters(b, m + "linear_k_adapter_list", place, sets, widths);
    v_adapters_ = Adapters(b, m + "linear_v_adapter_list", place, sets, widths);
  }

  void make_mlp(const Attributes& a, Builder& b, const Place& place, std::int64_t sets, std::int64_t width) {
    const std::string m = a.module() + ".feed_forward.";
    const bool bias = a.flag("bias", false);
    if (fused_) {
      const std::int64_t both = saturating_mul(2, inner_);
      gate_ = Linear(b, m + "gate_up_proj", width, both, bias);
      down_ = Linear(b, m + "down_proj", inner_, width, bias);
      gate_adapters_ = Adapters(b, m + "gate_up_proj_adapter_list", place, sets, {width, a.integer("rank"), both});
      return;
    }
    gate_ = Linear(b, m + "gate_proj", width, inner_, bias);
    up_ = Linear(b, m + "up_proj", width, inner_, bias);
    down_ = Linear(b, m + "down_proj", inner_, width, bias);
  }

  Tensor transformed(Play& play, Stream& s) const {
    Tensor hidden = play.torch.cat({s.hidden, s.arguments.original}, 2);
    hidden = norm_(play, hidden);
    hidden = attention(play, s, hidden);
    hidden = mlp_norm_(play, hidden);
    hidden = fused_ ? fused_mlp(play, std::move(hidden)) : mlp(play, hidden);
    return hidden;
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor q = q_proj_(play, x);
    Tensor k = k_proj_(play, x);
    Tensor v = v_proj_(play, x);
    q = q_adapters_.added(play, q, x);
    k = k_adapters_.added(play, k, x);
    v = v_adapters_.added(play, v, x);
    q = heads_of(t, q, head_dim_);
    k = heads_of(t, k, head_dim_);
    v = heads_of(t, v, head_dim_);
    if (rotary_) rotate(t, Rotary::halves, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return o_proj_(play, out);
  }

  /// Zamba2MLP, whose caller's only name for x is its own.
  Tensor fused_mlp(Play& play, Tensor x) const {
    Torch& t = play.torch;
    Tensor both = gate_(play, x);
    both = gate_adapters_.added(play, both, x);
    const std::vector<Tensor> parts = t.split(both, inner_, 2);
    both.reset();
    {
      const Tensor gate = activation_(t, parts[0]);
      x = t.mul(gate, parts[1]);
    }
    return down_(play, x);
  }

  Tensor mlp(Play& play, const Tensor& x) const { return down_(play, gated(play, x)); }

  Tensor gated(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor gate = activation_(t, gate_(play, x));
    return t.mul(gate, up_(play, x));
  }

  std::int64_t head_dim_;
  std::int64_t inner_;
  bool fused_;
  bool rotary_;
  AttentionKind kind_;
  Activation activation_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{}, gate_{}, up_{}, down_{}, linear_{};
  Adapters q_adapters_{}, k_adapters_{}, v_adapters_{}, gate_adapters_{};
  RmsNorm norm_{}, mlp_norm_{};
};

}  // namespace

extern const OpType zamba_transformer;
const OpType zamba_transformer{"zamba_transformer", make_module<ZambaTransformer>};

}  // namespace oomplan::estimator::ops
