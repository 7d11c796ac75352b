// DebertaV2Attention: products of contents with contents, of contents with distances (c2p) and of distances with
// contents (p2c), then the output's projection, dropout and post-norm.
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class DisentangledAttention final : public Module {
 public:
  DisentangledAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        relative_(a.flag("relative", true)),
        shared_(a.flag("shared", false)),
        dropout_(a.number("dropout", 0.0)),
        hidden_dropout_(a.number("hidden_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".self.";
    const std::int64_t width = a.integer("width");
    a.quotient("width", "heads");
    const std::string kinds = a.text("kinds", "");
    c2p_ = relative_ && kinds.find("c2p") != std::string::npos;
    p2c_ = relative_ && kinds.find("p2c") != std::string::npos;
    query_ = Linear(b, m + "query_proj", width, width, true);
    key_ = Linear(b, m + "key_proj", width, width, true);
    value_ = Linear(b, m + "value_proj", width, width, true);
    if (!shared_ && c2p_) pos_key_ = Linear(b, m + "pos_key_proj", width, width, true);
    if (!shared_ && p2c_) pos_query_ = Linear(b, m + "pos_query_proj", width, width, true);
    dense_ = Linear(b, a.module() + ".output.dense", width, width, true);
    norm_ = LayerNorm(b, a.module() + ".output.LayerNorm", width);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor attended = attend(play, s.arguments, s.hidden);
    Tensor hidden = dense_(play, attended);
    hidden = t.dropout(hidden, hidden_dropout_);
    s.hidden = norm_(play, t.add(hidden, s.hidden));
  }

 private:
  /// transpose_for_scores: (batch × heads) × length × width of a head.
  Tensor heads(Torch& t, const Tensor& x) const {
    const Tensor apart = t.view(x, {x->sizes[0], x->sizes[1], heads_, -1});
    const Tensor turned = t.contiguous(t.permute(apart, {0, 2, 1, 3}));
    return t.view(turned, {-1, x->sizes[1], turned->sizes[3]});
  }

  Tensor attend(Play& play, const Arguments& arguments, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor query = heads(t, query_(play, x));
    const Tensor key = heads(t, key_(play, x));
    const Tensor value = heads(t, value_(play, x));
    Tensor context;
    InBucket in_scores(t, Bucket::attention_scores);
    Tensor scores = t.bmm(query, t.div_scalar(t.transpose(key, 1, 2)));
    Tensor embeddings;
    Tensor bias;
    if (relative_) {
      embeddings = t.dropout(arguments.relative_embeddings, hidden_dropout_);
      bias = of_distances(play, arguments, query, key, embeddings);
    }
    if (bias) scores = t.add(scores, bias);
    scores = t.view(scores, {-1, heads_, scores->sizes[1], scores->sizes[2]});
    const Tensor mask = t.pointwise({&arguments.masks[0]}, DType::boolean, "aten::_to_copy");
    scores = t.masked_fill(scores, t.pointwise({&mask}, DType::boolean, "aten::bitwise_not"));
    Tensor weights = t.softmax_last(scores);
    weights = t.dropout(weights, dropout_);
    context = t.bmm(t.view(weights, {-1, weights->sizes[2], weights->sizes[3]}), value);
    context = t.view(context, {-1, heads_, context->sizes[1], context->sizes[2]});
    context = t.contiguous(t.permute(context, {0, 2, 1, 3}));
    return t.view(context, {x->sizes[0], x->sizes[1], -1});
  }

  /// disentangled_attention_bias.
  Tensor of_distances(Play& play, const Arguments& arguments, const Tensor& query, const Tensor& key,
                      const Tensor& embeddings) const {
    Torch& t = play.torch;
    const Tensor rows = t.unsqueeze(embeddings, 0);
    const std::int64_t batch = query->sizes[0] / heads_;
    Tensor pos_query;
    Tensor pos_key;
    const auto projected = [&](const Linear& own, const Linear& shared) {
      return t.repeat_first(heads(t, (shared_ ? shared : own)(play, rows)), batch);
    };
    if (shared_) pos_query = projected(pos_query_, query_);
    if (shared_ || c2p_) pos_key = projected(pos_key_, key_);
    if (!shared_ && p2c_) pos_query = projected(pos_query_, query_);
    Tensor score;
    Tensor by_content;
    Tensor by_position;
    Tensor at;
    Tensor back;
    if (c2p_) {
      by_content = t.bmm(query, t.transpose(pos_key, 1, 2));
      at = places(t, arguments.relative, false);
      by_content = t.gather_last(by_content, expanded(t, at, query));
      score = t.add_scalar(t.div_scalar(by_content));
    }
    if (p2c_) {
      back = places(t, arguments.relative, true);
      by_position = t.bmm(key, t.transpose(pos_query, 1, 2));
      by_position = t.transpose(t.gather_last(by_position, expanded(t, back, query)), 1, 2);
      const Tensor scaled = t.div_scalar(by_position);
      score = score ? t.add_(score, scaled) : t.add_scalar(scaled);
    }
    return score;
  }

  /// torch.clamp(relative_pos + att_span, …), of the opposite for keys.
  static Tensor places(Torch& t, const Tensor& relative, bool opposite) {
    const Tensor from = opposite ? t.neg(relative) : relative;
    const Tensor moved = t.add_scalar(from);
    return t.pointwise({&moved}, DType::int64, "aten::clamp");
  }

  static Tensor expanded(Torch& t, const Tensor& places, const Tensor& query) {
    return t.expand(places, {query->sizes[0], query->sizes[1], query->sizes[1]});
  }

  std::int64_t heads_;
  bool relative_;
  bool shared_;
  bool c2p_ = false;
  bool p2c_ = false;
  double dropout_;
  double hidden_dropout_;
  std::int32_t module_;
  Linear query_{}, key_{}, value_{}, pos_key_{}, pos_query_{}, dense_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType disentangled_attention;
const OpType disentangled_attention{"disentangled_attention", make_module<DisentangledAttention>};

}  // namespace oomplan::estimator::ops
