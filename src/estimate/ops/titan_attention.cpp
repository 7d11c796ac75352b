// torchtitan's Attention (torchtitan/models/llama3/model/model.py) by torch's kernel: queries and keys are turned as
// complex numbers in fp32, both before either is cast back.
#include "modules/linear.hpp"
#include "modules/tensor_parallel.hpp"

namespace oomplan::estimator::ops {
namespace {

/// grad * freqs_cis.conj(), which the product has to have in memory.
void turn_backward(Torch& t, Node& n, Grads& g) {
  const Tensor freqs = t.unpack(n, 0);
  const Tensor conjugate = t.empty(freqs->sizes, freqs->dtype, "aten::clone");
  g.out[0] = t.pointwise({&g.in[0]}, g.in[0]->dtype, "aten::mul");
}

/// A product of complex numbers, of which `freqs` has one for each pair of a row's elements.
Tensor turned(Torch& t, const Tensor& x, const Tensor& freqs) {
  NodeRef node = t.record("MulBackward0", {&x}, turn_backward);
  t.save(node, 0, freqs);
  return t.attach(node, t.pointwise({&x}, x->dtype, "aten::mul"));
}

/// apply_rotary_emb
std::pair<Tensor, Tensor> turn(Torch& t, const Tensor& q, const Tensor& k, const Tensor& table) {
  const Tensor q_pairs = t.to(q, DType::fp32);
  const Tensor k_pairs = t.to(k, DType::fp32);
  const Tensor freqs = t.slice(table, 0, 0, q->sizes[1]);
  const Tensor q_out = turned(t, q_pairs, freqs);
  const Tensor k_out = turned(t, k_pairs, freqs);
  Tensor q_cast = t.to(q_out, q->dtype);
  return {std::move(q_cast), t.to(k_out, k->dtype)};
}

class TitanAttention final : public Module {
 public:
  TitanAttention(const Attributes& a, Builder& b) : head_dim_(a.integer("head_dim")), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = a.integer("heads") * head_dim_;
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    check_shared_heads(b, a.integer("heads"), kv / head_dim_);
    wq_ = Linear::columns(b, m + "wq", width, q, false);
    wk_ = Linear::columns(b, m + "wk", width, kv, false);
    wv_ = Linear::columns(b, m + "wv", width, kv, false);
    wo_ = Linear::rows(b, m + "wo", q, width, false);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, whole_rows(play, s.hidden)); }

 private:
  Tensor split(Torch& t, const Tensor& x) const { return t.view(x, {x->sizes[0], x->sizes[1], -1, head_dim_}); }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor q = split(t, wq_(play, x));
    Tensor k = split(t, wk_(play, x));
    Tensor v = split(t, wv_(play, x));
    std::tie(q, k) = turn(t, q, k, s.arguments.cos[0]);
    q = t.transpose(q, 1, 2);
    k = t.transpose(k, 1, 2);
    v = t.transpose(v, 1, 2);
    Tensor out = t.attention(q, k, v, {}, 0, true, q->sizes[1] > k->sizes[1]);
    out = t.view(t.contiguous(t.transpose(out, 1, 2)), {x->sizes[0], x->sizes[1], -1});
    return wo_(play, out);
  }

  std::int64_t head_dim_;
  std::int32_t module_;
  Linear wq_{}, wk_{}, wv_{}, wo_{};
};

}  // namespace

extern const OpType titan_attention;
const OpType titan_attention{"titan_attention", make_module<TitanAttention>};

}  // namespace oomplan::estimator::ops
