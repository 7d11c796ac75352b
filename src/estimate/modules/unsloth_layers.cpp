#include "modules/unsloth_layers.hpp"

#include <algorithm>

#include "modules/activation.hpp"
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/unsloth_lora.hpp"
#include "torch/flash.hpp"

namespace oomplan::estimator {
namespace {

// ---- Positions -----------------------------------------------------------------------------------------------------

void clone_gradients(Torch& t, Node&, Grads& g) {
  for (const std::size_t i : {0, 1}) g.out[i] = t.clone(g.in[i]);
}

/// Fast_RoPE_Embedding_QK, which clones what is not contiguous: heads before tokens are not.
void turn_by_positions(Torch& t, Tensor& q, Tensor& k) {
  NodeRef node = t.record("Fast_RoPE_Embedding_QKBackward", {&q, &k}, clone_gradients);
  Restore no_grad(t.grad_enabled, false);
  Tensor q_out = t.clone(q);
  Tensor k_out = t.clone(k);
  q = t.attach(node, std::move(q_out), 0);
  k = t.attach(node, std::move(k_out), 1);
}

// ---- xformers' memory_efficient_attention by its flash operator (flash-attn 2.8.3, flash_api.cpp) ------------------

void flash_backward(Torch& t, Node& n, Grads& g) {
  constexpr const char* op = "xformers::flash_bwd";
  const Tensor q = t.unpack(n, 0);
  const Tensor k = t.unpack(n, 1);
  const Tensor v = t.unpack(n, 2);
  const Tensor out = t.unpack(n, 3);
  const Tensor lse = t.unpack(n, 4);
  const Tensor seed = t.unpack(n, 5);
  g.out[0] = t.empty(q->sizes, q->dtype, op);
  g.out[1] = t.empty(k->sizes, k->dtype, op);
  g.out[2] = t.empty(v->sizes, v->dtype, op);
  const std::int64_t heads = q->sizes[2];
  const std::int64_t joined = n.ints[0];
  const std::int64_t length = q->sizes[1];
  const std::int64_t rows = joined > 0 ? saturating_add(length, saturating_mul(128, joined))
                                       : saturating_mul(q->sizes[0], up_to(length, 128));
  const std::int64_t width = flash_head(q->sizes[3]);
  const Tensor softmax_d = t.empty({heads, rows}, DType::fp32, op);
  const Tensor dq_sum = t.empty({rows, heads, width}, DType::fp32, op);
}

/// q, k, v: batch × length × heads × width. `joined`: rows in each, or 0.
Tensor flash(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t joined) {
  constexpr const char* op = "xformers::flash_fwd";
  NodeRef node = t.record("_fMHABackward", {&q, &k, &v}, flash_backward);
  if (node) node->ints[0] = joined;
  Restore no_grad(t.grad_enabled, false);
  t.use_kernel("flash", "flash attention");
  Tensor out = t.empty(q->sizes, q->dtype, op);
  const Tensor lse = t.empty({q->sizes[0], q->sizes[2], q->sizes[1]}, DType::fp32, op);
  const Tensor seed = t.empty({2}, DType::int64, op);
  t.save(node, 0, q);
  t.save(node, 1, k);
  t.save(node, 2, v);
  t.save_output(node, 3, out);
  t.save_output(node, 4, lse);
  t.save_output(node, 5, seed);
  return t.attach(node, std::move(out));
}

/// Keys or values, batch × heads × length × width, as the kernel takes them: where a gradient is asked for, each head a
/// copy for each of its queries.
Tensor for_kernel(Torch& t, const Tensor& x, std::int64_t groups, bool copies) {
  const Tensor rows = t.transpose(x, 1, 2);
  if (groups == 1 || !copies) return rows;
  const Dims& s = rows->sizes;
  const Tensor wide = t.expand(t.view(rows, {s[0], s[1], s[2], 1, s[3]}), {s[0], s[1], s[2], groups, s[3]});
  return t.reshape(wide, {s[0], s[1], s[2] * groups, s[3]});
}

// ---- slow_attention_softcapping (unsloth/kernels/flex_attention.py), which torch.compile runs ----------------------
//
// What it writes down between its two products is counted in full, which a product that is fused with what follows it
// need not be: an upper bound, of which no peak is told (check_compiled_peak).

void capped_backward(Torch& t, Node& n, Grads& g) {
  constexpr const char* op = "inductor";
  const Tensor scores = t.unpack(n, 3);
  const Tensor of_values = t.empty(t.unpack(n, 2)->sizes, scores->dtype, op);
  Tensor of_weights = t.empty(scores->sizes, scores->dtype, op);
  const Tensor of_scores = t.empty(scores->sizes, scores->dtype, op);
  of_weights.reset();
  g.out[0] = t.empty(t.unpack(n, 0)->sizes, scores->dtype, op);
  g.out[1] = t.empty(t.unpack(n, 1)->sizes, scores->dtype, op);
  g.out[2] = of_values;
}

/// q, k, v: batch × heads × length × width, of which k and v have as many heads as q. Returns batch × length × heads ×
/// width.
Tensor capped(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v) {
  constexpr const char* op = "inductor";
  NodeRef node = t.record("CompiledFunctionBackward", {&q, &k, &v}, capped_backward);
  Restore no_grad(t.grad_enabled, false);
  const Dims of_scores{q->sizes[0], q->sizes[1], q->sizes[2], k->sizes[2]};
  const Tensor scaled = t.empty(q->sizes, q->dtype, op);
  const Tensor scores = t.empty(of_scores, q->dtype, op);
  const Tensor weights = t.empty(of_scores, q->dtype, op);
  t.save(node, 0, scaled);
  t.save(node, 1, k);
  t.save(node, 2, v);
  t.save(node, 3, scores);
  t.save(node, 4, weights);
  const Tensor out = t.empty(q->sizes, q->dtype, op);
  return t.attach(node, t.empty({q->sizes[0], q->sizes[2], q->sizes[1], q->sizes[3]}, q->dtype, op));
}

class UnslothAttention final : public Module {
 public:
  UnslothAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        groups_(a.quotient("heads", "kv_heads")),
        capped_(a.find("softcap") != nullptr),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = a.integer("heads") * head_dim_;
    const std::int64_t kv = q / groups_;
    const bool biased = a.flag("qkv_bias", false);
    if (a.flag("o_bias", false)) a.unmodelled("biases of attention's output under Unsloth");
    for (const char* other : {"scaled_keys", "scaled_by_position", "rotary"}) {
      if (a.find(other) != nullptr) a.unmodelled("such attention under Unsloth");
    }
    q_proj_ = Linear(b, m + "q_proj", width, q, biased);
    k_proj_ = Linear(b, m + "k_proj", width, kv, biased);
    v_proj_ = Linear(b, m + "v_proj", width, kv, biased);
    o_proj_ = Linear(b, m + "o_proj", q, width, false);
    // FastLlamaModel.patch_peft_model leaves layers with biases to peft (original_apply_qkv).
    if (!biased) qkv_ = UnslothLora({&q_proj_, &k_proj_, &v_proj_});
    o_ = UnslothLora({&o_proj_});
    if (qkv_.partial()) a.unmodelled("adapters on some of q, k and v under Unsloth");
    const std::string norm = a.text("qk_norm", "none");
    if (norm == "none") return;
    if (norm != "heads") a.unmodelled("such norms of queries and keys under Unsloth");
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_, rms_style(a, "norm"));
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_, rms_style(a, "norm"));
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s.hidden); }

 private:
  std::array<Tensor, 3> projections(Play& play, const Tensor& x) const {
    if (qkv_.complete()) return qkv_(play, x);
    Tensor q = q_proj_(play, x);
    Tensor k = k_proj_(play, x);
    return {std::move(q), std::move(k), v_proj_(play, x)};
  }

  /// Qwen3Attention_fast_forward has the norms before heads are brought to the front.
  Tensor heads(Play& play, const RmsNorm& norm, Tensor& projected) const {
    Torch& t = play.torch;
    Tensor split = t.view(projected, {projected->sizes[0], projected->sizes[1], -1, head_dim_});
    projected.reset();
    if (norm) split = norm(play, split);
    return t.transpose(split, 1, 2);
  }

  Tensor attention(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    std::array<Tensor, 3> qkv = projections(play, x);
    Tensor q = heads(play, q_norm_, qkv[0]);
    Tensor k = heads(play, k_norm_, qkv[1]);
    const Tensor v = heads(play, {}, qkv[2]);
    // Without positions of their own Fast_RoPE_Embedding turns them where they are.
    if (play.facts.joined > 0) turn_by_positions(t, q, k);
    Tensor out;
    if (capped_) {
      const Tensor key = repeat_kv(t, k, groups_);
      out = capped(t, q, key, repeat_kv(t, v, groups_));
    } else {
      const bool copies = x->requires_grad;
      const Tensor key = for_kernel(t, k, groups_, copies);
      const Tensor value = for_kernel(t, v, groups_, copies);
      out = flash(t, t.transpose(q, 1, 2), key, value, play.facts.joined);
    }
    const Tensor flat = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return o_.complete() ? o_(play, flat)[0] : o_proj_(play, flat);
  }

  std::int64_t head_dim_;
  std::int64_t groups_;
  bool capped_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, k_norm_{};
  UnslothLora qkv_{}, o_{};
};

class UnslothMlp final : public Module {
 public:
  UnslothMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "silu"), b)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    constexpr auto kernels = std::to_array<std::string_view>({"silu", "gelu", "gelu_pytorch_tanh"});
    if (std::ranges::count(kernels, a.text("activation", "silu")) == 0)
      a.unmodelled("such an activation under Unsloth");
    if (a.flag("bias", false)) a.unmodelled("biases of an MLP under Unsloth");
    gate_ = Linear(b, m + "gate_proj", a.integer("width"), a.integer("inner"), false);
    up_ = Linear(b, m + "up_proj", a.integer("width"), a.integer("inner"), false);
    down_ = Linear(b, m + "down_proj", a.integer("inner"), a.integer("width"), false);
    lora_ = UnslothLora({&gate_, &up_, &down_});
    if (lora_.partial()) a.unmodelled("adapters on some of gate, up and down under Unsloth");
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = lora_.complete() ? lora_.mlp(play, s.hidden) : down_(play, gated(play, s.hidden));
  }

 private:
  Tensor gated(Play& play, const Tensor& x) const {
    const Tensor gate = activation_(play.torch, gate_(play, x));
    return play.torch.mul(gate, up_(play, x));
  }

  Activation activation_;
  std::int32_t module_;
  Linear gate_{}, up_{}, down_{};
  UnslothLora lora_{};
};

}  // namespace

std::unique_ptr<Module> make_unsloth_attention(const Attributes& attributes, Builder& builder) {
  return std::make_unique<UnslothAttention>(attributes, builder);
}

std::unique_ptr<Module> make_unsloth_mlp(const Attributes& attributes, Builder& builder) {
  return std::make_unique<UnslothMlp>(attributes, builder);
}

}  // namespace oomplan::estimator
