// Phi4MultimodalVisionMultiheadAttentionPoolingHead: one learned query that sees all patches, by
// torch.nn.MultiheadAttention, of which nobody reads what it gives. What peft puts beside its last layer is held, and
// not called.
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class UnreadPool final : public Module {
 public:
  UnreadPool(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        head_dim_(a.quotient("width", "heads")),
        activation_(find_activation(a.text("activation", "gelu"), b)) {
    const std::string m = a.module() + ".";
    if (b.facts.images.count > 0 && b.quantized(m + "attention.out_proj"))
      a.unmodelled("quantized weights in torch.nn.MultiheadAttention");
    probe_ = b.weight(m + "probe", {1, 1, width_}, Part::embedding);
    in_weight_ = b.weight(m + "attention.in_proj_weight", {saturating_mul(3, width_), width_}, Part::matrix);
    in_bias_ = b.weight(m + "attention.in_proj_bias", {saturating_mul(3, width_)}, Part::bias);
    out_proj_ = Linear(b, m + "attention.out_proj", width_, width_, true);
    norm_ = LayerNorm(b, m + "layernorm", width_);
    first_ = Linear(b, m + "mlp.fc1", width_, a.integer("inner"), true);
    second_ = Linear(b, m + "mlp.fc2", a.integer("inner"), width_, true);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor pooled = attended(play, s.hidden);
    Tensor hidden = norm_(play, pooled);
    hidden = second_(play, activation_(t, first_(play, hidden)));
    hidden = t.add(pooled, hidden);
  }

 private:
  Tensor attended(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const std::int64_t rows = x->sizes[0];
    const std::int64_t patches = x->sizes[1];
    const Tensor probe = t.repeat_first(probe_, rows);
    const Tensor key = t.contiguous(t.transpose(x, 0, 1));
    const Tensor q =
        t.linear(t.transpose(probe, 0, 1), t.slice(in_weight_, 0, 0, width_), t.slice(in_bias_, 0, 0, width_));
    Tensor both = t.linear(key, t.slice(in_weight_, 0, width_, 2 * width_), t.slice(in_bias_, 0, width_, 2 * width_));
    both = t.contiguous(t.transpose(t.view(both, {patches * rows, 2, width_}), 0, 1));
    const Tensor k = heads_of_rows(t, t.slice(both, 0, 0, 1), patches, rows);
    const Tensor v = heads_of_rows(t, t.slice(both, 0, 1, 1), patches, rows);
    const Tensor scaled = t.mul_scalar(heads_of_rows(t, q, 1, rows));
    Tensor weights = t.bmm(scaled, t.transpose(k, 1, 2));
    weights = t.softmax_last(weights);
    Tensor out = t.bmm(weights, v);
    out = t.reshape(t.transpose(out, 0, 1), {rows, width_});
    out = t.linear(out, out_proj_.weight(play.facts), {});
    return t.view(out, {rows, 1, width_});
  }

  /// length × rows × width: a matrix of length × head for each head of each row.
  Tensor heads_of_rows(Torch& t, const Tensor& x, std::int64_t length, std::int64_t rows) const {
    return t.transpose(t.view(x, {length, rows * (width_ / head_dim_), head_dim_}), 0, 1);
  }

  std::int64_t width_;
  std::int64_t head_dim_;
  Activation activation_;
  Tensor probe_{}, in_weight_{}, in_bias_{};
  LayerNorm norm_{};
  Linear out_proj_{}, first_{}, second_{};
};

}  // namespace

extern const OpType unread_pool;
const OpType unread_pool{"unread_pool", make_module<UnreadPool>};

}  // namespace oomplan::estimator::ops
