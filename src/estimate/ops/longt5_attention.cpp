// LongT5LayerLocalSelfAttention and LongT5LayerTransientGlobalSelfAttention: norm, attention of each block to itself
// and its neighbours, dropout and the sum; of the latter also to the sums of the row's fixed blocks, which every layer
// makes. The first block of a stack makes the bias, in which the mask is, and all share it.
#include "modules/distance_buckets.hpp"
#include "modules/linear.hpp"
#include "modules/local_blocks.hpp"
#include "modules/rms_norm.hpp"
#include "torch/einsum.hpp"

namespace oomplan::estimator::ops {
namespace {

class Longt5Attention final : public Module {
 public:
  Longt5Attention(const Attributes& a, Builder& b)
      : kind_(long_attention(a)),
        heads_(a.integer("heads")),
        head_dim_(a.integer("head_dim")),
        block_(a.integer("radius") + 1),
        every_(a.integer("global_block")),
        dropout_(a.number("dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const bool global = kind_ == LongAttention::transient_global;
    if (global && b.facts.length < every_) a.unmodelled("a row shorter than a fixed block");
    const std::string m = a.module() + (global ? ".TransientGlobalSelfAttention." : ".LocalSelfAttention.");
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = saturating_mul(heads_, head_dim_);
    q_ = Linear(b, m + "q", width, inner, false);
    k_ = Linear(b, m + "k", width, inner, false);
    v_ = Linear(b, m + "v", width, inner, false);
    o_ = Linear(b, m + "o", inner, width, false);
    if (const std::int64_t buckets = a.count("buckets")) {
      distances_ = b.embedding(m + "relative_attention_bias", {buckets, heads_});
      if (global) side_distances_ = b.embedding(m + "global_relative_attention_bias", {buckets, heads_});
    }
    if (global) global_norm_ = RmsNorm(b, m + "global_input_layer_norm", width, RmsStyle::t5);
    norm_ = RmsNorm(b, a.module() + ".layer_norm", width, RmsStyle::t5);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor normed = norm_(play, s.hidden);
    const Tensor out = attention(play, s, normed);
    s.hidden = t.add(s.hidden, t.dropout(out, dropout_));
  }

 private:
  struct Side {
    Tensor blocks{};    ///< Of each token, the fixed block that it is in,
    Tensor segments{};  ///< … and which of them there are.
    Tensor inputs{};
  };

  Tensor split(Torch& t, const Tensor& x) const { return t.view(x, {x->sizes[0], -1, heads_, head_dim_}); }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor& mask = s.arguments.mask(Span::full);
    const bool global = kind_ == LongAttention::transient_global;
    const Side side = global ? side_of(play, x) : Side{};
    Tensor q = split(t, q_(play, x));
    Tensor k = split(t, k_(play, x));
    Tensor v = split(t, v_(play, x));
    Tensor side_k = global ? split(t, k_(play, side.inputs)) : Tensor();
    Tensor side_v = global ? split(t, v_(play, side.inputs)) : Tensor();
    q = split_into_blocks(t, q, block_, 1);
    k = split_into_blocks(t, k, block_, 1);
    v = split_into_blocks(t, v, block_, 1);
    k = with_neighbours(t, k);
    v = with_neighbours(t, v);
    if (global) {
      side_k = for_each_block(t, side_k, k->sizes[1]);
      side_v = for_each_block(t, side_v, k->sizes[1]);
      k = t.cat({k, side_k}, 2);
      v = t.cat({v, side_v}, 2);
    }
    InBucket bucket(t, Bucket::attention_scores);
    Tensor scores = einsum(t, q, "bnqhd", k, "bnkhd", "bnhqk");
    Tensor allowed = global ? additive(t, local_mask(t, mask, block_)) : Tensor();
    Tensor& bias = s.arguments.bias;
    if (!bias) {
      if (!global) allowed = additive(t, mask);
      bias = bias_of_distances(t);
      bias = t.add(bias, t.transpose(allowed, 1, 2));
      if (global) bias = with_side(t, t.to(bias, scores->dtype), side, mask, scores->dtype);
    }
    scores = t.add_(scores, bias);
    Tensor weights = softmax_of_raised(t, scores);
    weights = t.to(weights, scores->dtype);
    weights = t.functional_dropout(weights, dropout_);
    weights = t.to(weights, v->dtype);
    Tensor out = t.contiguous(einsum(t, weights, "bnhqk", v, "bnkhd", "bnqhd"));
    out = t.view(out, {x->sizes[0], -1, heads_ * head_dim_});
    out = t.slice(out, 1, 0, x->sizes[1]);
    return o_(play, out);
  }

  static Tensor softmax_of_raised(Torch& t, const Tensor& scores) {
    const Tensor raised = t.to(scores, DType::fp32);
    return t.softmax_last(raised);
  }

  /// _make_global_fixed_block_ids and _create_global_aggregates; of the former what it returns.
  Side side_of(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const Dims& sizes = x->sizes;
    const std::int64_t count = sizes[1] / every_;
    Side out;
    out.blocks = t.empty({sizes[0], sizes[1]}, DType::int32, "aten::_to_copy");
    out.segments = t.empty({sizes[0], count}, DType::int32, "aten::_to_copy");
    out.inputs = aggregates(t, x, count);
    out.inputs = global_norm_(play, out.inputs);
    return out;
  }

  static Tensor aggregates(Torch& t, const Tensor& x, std::int64_t count) {
    const Tensor ids = t.empty({x->sizes[0], x->sizes[1]}, DType::int32, "aten::where");
    const Tensor one_hot = t.empty({x->sizes[0], x->sizes[1], count + 1}, DType::int64, "aten::zeros");
    const Tensor chosen = t.empty({x->sizes[0], x->sizes[1], count}, x->dtype, "aten::_to_copy");
    return einsum(t, x, "bnd", chosen, "bng", "bgd");
  }

  /// x.unsqueeze(1).repeat(1, blocks, 1, 1, 1)
  static Tensor for_each_block(Torch& t, const Tensor& x, std::int64_t blocks) {
    const Tensor one = t.unsqueeze(x, 1);
    NodeRef node = t.record("RepeatBackward0", {&one}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::sum");
    });
    if (node) node->dims = one->sizes;
    Dims sizes = one->sizes;
    sizes[1] = blocks;
    return t.attach(node, t.empty(sizes, x->dtype, "aten::repeat"));
  }

  /// compute_bias: 1 × 1 × heads × block × 3 · block.
  Tensor bias_of_distances(Torch& t) const {
    const Dims sizes{block_, 3 * block_};
    const Tensor memory = t.empty({3 * block_}, DType::int64, "aten::arange");
    const Tensor distances = t.empty(sizes, DType::int64, "aten::sub");
    const Tensor values = t.embedding(distances_, distance_buckets(t, sizes, false, false));
    return t.unsqueeze(t.unsqueeze(t.permute(values, {2, 0, 1}), 0), 0);
  }

  /// The bias of the row's own blocks beside that of the fixed ones.
  Tensor with_side(Torch& t, const Tensor& own, const Side& side, const Tensor& mask, DType dtype) const {
    Tensor other = side_bias(t, {mask->sizes[0], mask->sizes[1], side.segments->sizes[1]});
    other = t.transpose(split_into_blocks(t, other, block_, 2), 1, 2);
    other = t.to(other, dtype);
    return t.cat({own, other}, 4);
  }

  /// compute_side_bias
  Tensor side_bias(Torch& t, const Dims& sizes) const {
    const Tensor equal = t.empty(sizes, DType::boolean, "aten::eq");
    const Tensor allowed = t.unsqueeze(additive(t, equal), 1);
    const Tensor distances = t.empty(sizes, DType::int64, "aten::sub");
    Tensor bias = t.embedding(side_distances_, distance_buckets(t, sizes, false, false));
    bias = t.permute(bias, {0, 3, 1, 2});
    return t.add(allowed, bias);
  }

  LongAttention kind_;
  std::int64_t heads_;
  std::int64_t head_dim_;
  std::int64_t block_;
  std::int64_t every_;  ///< How long a fixed block is.
  double dropout_;
  std::int32_t module_;
  Linear q_{}, k_{}, v_{}, o_{};
  Tensor distances_{}, side_distances_{};
  RmsNorm norm_{}, global_norm_{};
};

}  // namespace

extern const OpType longt5_attention;
const OpType longt5_attention{"longt5_attention", make_module<Longt5Attention>};

}  // namespace oomplan::estimator::ops
