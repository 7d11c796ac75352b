// Swinv2Layer.forward up to its first norm: as Swin's, with likenesses of normed queries and keys, and biases that a
// small network makes of the distances. Always written out; its variables live until the layer returns, and `normed` is
// the padded picture, which it has no more once the norm is done.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/windows.hpp"
#include "torch/rolling.hpp"

namespace oomplan::estimator::ops {
namespace {

class CosineWindowAttention final : public Module {
 public:
  CosineWindowAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")), dropout_(a.number("dropout", 0.0)), module_(b.module_id(a.module())) {
    if (b.facts.attention != Attention::eager) a.unmodelled("kernels of attention other than eager");
    const std::int64_t step = a.integer("step");
    const std::int64_t usual = a.integer("image_size");
    const PictureSize size = picture_size(b, usual);
    const std::int64_t width = a.integer("width");
    // A window is as large as the config's picture lets it be, whatever the batch's.
    const std::int64_t across = std::max<std::int64_t>(usual / step, 1);
    windows_ = {.side = std::min(a.integer("window"), across),
                .height = divided_up(size.height, step),
                .columns = divided_up(size.width, step),
                .width = width};
    windows_.moved = a.flag("shifts", false) && across > windows_.side;
    const std::string m = a.module() + ".";
    const std::string self = m + "self.";
    const bool bias = a.flag("bias", true);
    scale_ = b.weight(self + "logit_scale", {heads_, 1, 1}, Part::norm);
    first_ = Linear(b, self + "continuous_position_bias_mlp.0", 2, inner, true);
    second_ = Linear(b, self + "continuous_position_bias_mlp.2", inner, heads_, false);
    query_ = Linear(b, self + "query", width, width, bias);
    key_ = Linear(b, self + "key", width, width, false);
    value_ = Linear(b, self + "value", width, width, bias);
    dense_ = Linear(b, m + "output.dense", width, width, true);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    const std::int64_t span = 2 * windows_.side - 1;
    places_ = b.torch.empty({1, span, span, 2}, b.facts.weights, "buffer");
    index_ = b.torch.empty({saturating_mul(windows_.area(), windows_.area())}, DType::int64, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t rows = s.hidden->sizes[0];
    s.hidden = windows_.padded(t, s.hidden);
    s.normed = s.hidden;
    if (windows_.moved) s.hidden = roll_twice(t, s.normed);
    s.streams.held.push_back(s.hidden);  // shifted_hidden_states
    const Tensor windows = windows_.parted(t, s.hidden);
    const Tensor mask = windows_.moved ? windows_.regions(t, s.normed->dtype) : Tensor();
    s.streams.held.insert(s.streams.held.end(), {windows, mask});
    s.hidden = attention(play, windows, mask);
    s.streams.held.push_back(s.hidden);  // attention_output
    s.hidden = windows_.joined(t, s.hidden, rows);
    s.streams.held.push_back(s.hidden);  // shifted_windows
    if (windows_.moved) s.hidden = roll_twice(t, s.hidden);
    s.hidden = windows_.cut(t, std::exchange(s.hidden, {}));
    s.streams.held.push_back(s.hidden);  // attention_windows
  }

 private:
  static constexpr std::int64_t inner = 512;

  /// norm_backward: grad * (self / norm).masked_fill_(norm == 0, 0)
  static Tensor norm(Torch& t, const Tensor& x) {
    NodeRef node = t.record("LinalgVectorNormBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor self = torch.unpack(n, 0);
      const Tensor result = torch.unpack(n, 1);
      const Tensor none = torch.pointwise({&result}, DType::boolean, "aten::eq");
      const Tensor part = torch.pointwise({&self, &result}, self->dtype, "aten::div");
      g.out[0] = torch.mul(g.in[0], part);
    });
    t.save(node, 0, x);
    Dims sizes = x->sizes;
    sizes[sizes.size() - 1] = 1;
    const DType dtype = t.autocast() ? DType::fp32 : x->dtype;
    const Tensor out = t.empty(sizes, dtype, "aten::linalg_vector_norm");
    t.save_output(node, 1, out);
    return t.attach(node, out);
  }

  /// torch.nn.functional.normalize(x, dim=-1)
  static Tensor normalised(Torch& t, const Tensor& x) {
    const Tensor length = t.expand(t.clamp(norm(t, x)), x->sizes);
    return t.div(x, length);
  }

  Tensor biases(Play& play) const {
    Torch& t = play.torch;
    const std::int64_t area = windows_.area();
    Tensor table = first_(play, places_);
    table = t.relu(std::exchange(table, {}));
    table = t.view(second_(play, table), {-1, heads_});
    const Tensor rows = t.view(t.index_rows(table, index_), {area, area, -1});
    const Tensor each = t.contiguous(t.permute(rows, {2, 0, 1}));
    return t.mul_scalar(t.sigmoid(each));
  }

  Tensor likeness(Play& play, const Tensor& q, const Tensor& k, const Tensor& mask) const {
    Torch& t = play.torch;
    InBucket bucket(t, Bucket::attention_scores);
    Tensor scores;
    {
      const Tensor query = normalised(t, q);
      scores = t.matmul(query, t.transpose(normalised(t, k), 2, 3));
    }
    const Tensor scale = t.exp(t.clamp(scale_));
    scores = t.mul(scores, scale);
    const Tensor bias = biases(play);
    scores = t.add(scores, t.unsqueeze(bias, 0));
    if (mask) {
      const Dims sizes = scores->sizes;
      const std::int64_t windows = mask->sizes[0];
      const Tensor each = t.unsqueeze(t.unsqueeze(mask, 1), 0);
      scores = t.add(t.view(scores, {sizes[0] / windows, windows, sizes[1], sizes[2], sizes[3]}), each);
      scores = t.add(scores, each);
      scores = t.view(scores, sizes);
    }
    return scores;
  }

  Tensor attention(Play& play, const Tensor& x, const Tensor& mask) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor context;
    {
      const std::int64_t head_dim = windows_.width / heads_;
      const Tensor q = heads_of(t, query_(play, x), head_dim);
      const Tensor k = heads_of(t, key_(play, x), head_dim);
      const Tensor v = heads_of(t, value_(play, x), head_dim);
      const Tensor scores = likeness(play, q, k, mask);
      InBucket bucket(t, Bucket::attention_scores);
      Tensor probabilities = t.softmax_last(scores);
      probabilities = t.dropout(probabilities, dropout_);
      context = t.matmul(probabilities, v);
      context = t.contiguous(t.permute(context, {0, 2, 1, 3}));
      context = t.view(context, {x->sizes[0], x->sizes[1], -1});
    }
    const Tensor hidden = dense_(play, context);
    return t.dropout(hidden, dropout_);
  }

  std::int64_t heads_;
  Windows windows_{};
  double dropout_;
  std::int32_t module_;
  Tensor scale_{}, places_{}, index_{};
  Linear first_{}, second_{}, query_{}, key_{}, value_{}, dense_{};
};

}  // namespace

extern const OpType cosine_window_attention;
const OpType cosine_window_attention{"cosine_window_attention", make_module<CosineWindowAttention>};

}  // namespace oomplan::estimator::ops
