// What sentence-transformers 6.2 puts behind a base model (sentence_transformer/modules/pooling.py, dense.py,
// normalize.py): Pooling, and where the plan asks for them Dense and Normalize. AutoModel gives some families a pooler
// of their own, which is made, read by nobody, and gets no gradient.
#include "head.hpp"
#include "torch/norms.hpp"

namespace oomplan::estimator::heads {
namespace {

/// The mask of each token as a factor of its width, which it is copied to.
Tensor spread(Torch& t, const Tensor& mask, const Tensor& tokens) {
  const Tensor wide = t.expand(t.unsqueeze(mask, 2), tokens->sizes);
  return t.pointwise({&wide}, tokens->dtype, "aten::_to_copy");
}

Tensor mean_of(Torch& t, const Tensor& tokens, const Tensor& mask) {
  const DType summed = bytes_of(tokens->dtype) == 2 ? DType::fp32 : tokens->dtype;
  const Tensor factors = t.to(t.unsqueeze(mask, 2), tokens->dtype);
  const Tensor sum = t.sum_dim(t.mul(tokens, factors), 1, false, summed);
  const Tensor count = t.clamp(t.sum_dim(factors, 1, false, summed));
  return t.to(t.div(sum, count), tokens->dtype);
}

/// tokens.gather(1, …) of one token in each row.
Tensor token_at(Torch& t, const Tensor& tokens, const Tensor& place) {
  const Dims one{tokens->sizes[0], 1, tokens->sizes[2]};
  return t.squeeze(t.gather_last(tokens, t.expand(t.unsqueeze(t.unsqueeze(place, 1), 2), one)), 1);
}

Tensor first_of(Torch& t, const Tensor& tokens, const Tensor& mask) {
  const Tensor real = t.to(mask, DType::int32);
  const Tensor place = t.empty({mask->sizes[0]}, DType::int64, "aten::argmax");
  return token_at(t, tokens, place);
}

/// torch.max(x, dim=1), whose gradient is zeros but at the places of the highest.
Tensor highest_of(Torch& t, const Tensor& tokens, const Tensor& mask) {
  const Tensor factors = spread(t, mask, tokens);
  Tensor filled;
  {
    const Tensor padding = t.pointwise({&factors}, DType::boolean, "aten::eq");
    filled = t.masked_fill(tokens, padding);
  }
  const NodeRef node = t.record("MaxBackward0", {&filled}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor places = torch.unpack(n, 0);
    g.out[0] = torch.zeros(n.dims, g.in[0]->dtype);
  });
  if (node) node->dims = filled->sizes;
  Dims sizes = filled->sizes;
  sizes.erase(1);
  Tensor values = t.empty(sizes, filled->dtype, "aten::max");
  const Tensor places = t.empty(sizes, DType::int64, "aten::max");
  t.save(node, 0, places);
  return t.attach(node, std::move(values));
}

Tensor last_of(Torch& t, const Tensor& tokens, const Tensor& mask) {
  const Tensor turned = t.pointwise({&mask}, DType::int64, "aten::flip");
  const Tensor place = t.empty({mask->sizes[0]}, DType::int64, "aten::where");
  const Tensor factors = spread(t, mask, tokens);
  return token_at(t, t.mul(tokens, factors), place);
}

Tensor pooled(Torch& t, Pooling pooling, const Tensor& tokens, const Tensor& mask) {
  switch (pooling) {
    case Pooling::mean:
      return mean_of(t, tokens, mask);
    case Pooling::cls:
      return first_of(t, tokens, mask);
    case Pooling::max:
      return highest_of(t, tokens, mask);
    case Pooling::last_token:
      return last_of(t, tokens, mask);
  }
  return tokens;
}

class SentenceHead final : public Head {
 public:
  SentenceHead(const Attributes& a, Builder& b) {
    const std::int64_t width = a.integer("width");
    has_pooler_ = a.find("pooler") != nullptr;
    if (has_pooler_) pooler_ = Linear(b, a.text("pooler", ""), width, width, true);
    sends_types = a.flag("types_sent", false);
    if (b.facts.dense_width > 0) {
      dense_ = b.adapter_weight("dense.linear", {b.facts.dense_width, width}, b.facts.weights);
      dense_bias_ = b.adapter_weight("dense.linear.bias", {b.facts.dense_width}, b.facts.weights);
    }
    classifies = true;
  }

  void embed(Play& play, Pooling pooling, bool normalized, Stream& s) const override {
    Torch& t = play.torch;
    if (has_pooler_) t.tanh(pooler_(play, t.select(s.hidden, 1)));
    InBucket bucket(t, Bucket::logits_and_loss);
    s.logits = t.cat({pooled(t, pooling, s.hidden, s.attention_mask)}, 1);
    if (dense_) s.logits = t.tanh(t.linear(s.logits, dense_, dense_bias_));
    if (normalized) s.logits = normalized_last(t, s.logits);
  }

 private:
  bool has_pooler_ = false;
  Linear pooler_{};
  Tensor dense_{};
  Tensor dense_bias_{};
};

}  // namespace

extern const HeadType sentence_head;
const HeadType sentence_head{"sentence_head", make_head<SentenceHead>};

}  // namespace oomplan::estimator::heads
