// Phi4MultimodalVisionMultiheadAttentionPoolingHead: one learned query that sees all patches, by
// torch.nn.MultiheadAttention, of which nobody reads what it gives. What peft puts beside its last layer is held, and
// not called.
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/learned_query.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class UnreadPool final : public Module {
 public:
  UnreadPool(const Attributes& a, Builder& b) : activation_(find_activation(a.text("activation", "gelu"), b)) {
    const std::int64_t width = a.integer("width");
    const std::string m = a.module() + ".";
    if (b.facts.images.count > 0 && b.quantized(m + "attention.out_proj"))
      a.unmodelled("quantized weights in torch.nn.MultiheadAttention");
    query_ = LearnedQuery(b, m, width, a.quotient("width", "heads"));
    out_proj_ = Linear(b, m + "attention.out_proj", width, width, true);
    norm_ = LayerNorm(b, m + "layernorm", width);
    first_ = Linear(b, m + "mlp.fc1", width, a.integer("inner"), true);
    second_ = Linear(b, m + "mlp.fc2", a.integer("inner"), width, true);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor pooled = query_(t, s.hidden, out_proj_.weight(play.facts), {});
    Tensor hidden = norm_(play, pooled);
    hidden = second_(play, activation_(t, first_(play, hidden)));
    hidden = t.add(pooled, hidden);
  }

 private:
  Activation activation_;
  LearnedQuery query_{};
  LayerNorm norm_{};
  Linear out_proj_{}, first_{}, second_{};
};

}  // namespace

extern const OpType unread_pool;
const OpType unread_pool{"unread_pool", make_module<UnreadPool>};

}  // namespace oomplan::estimator::ops
