// DeepSeek's multi-head latent attention: keys and values come of one narrow projection, with one rotated key for all
// heads, or none turned as Kimi Linear (DeepseekV3Attention, DeepseekV2Attention, Glm4MoeLiteAttention,
// Mistral4Attention). Where it is sparse, an indexer chooses the tokens that each query attends to (DeepSeek-V3.2), and
// layers without one take what the last indexer chose (GLM-5): that goes from block to block as a bias of theirs.
#include "modules/attention_core.hpp"
#include "modules/indexer.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/rotary.hpp"
#include "torch/scans.hpp"

namespace oomplan::estimator::ops {
namespace {

class LatentAttention final : public Module {
 public:
  LatentAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        nope_(a.integer("nope_width")),
        turned_(a.integer("rope_width")),
        values_(a.integer("value_width")),
        rank_(a.integer("kv_rank")),
        rotary_(rotary_style(a, "rotary")),
        by_position_(a.flag("scaled_by_position", false)),
        sparse_(a.find("index_heads") != nullptr),
        hands_on_(a.find("indexes") != nullptr),
        kind_{.dropout = a.number("dropout", 0.0)},
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = saturating_mul(heads_, nope_ + turned_);
    const bool bias = a.flag("bias", false);
    if (a.find("q_rank") == nullptr) {
      q_proj_ = Linear(b, m + "q_proj", width, q, false);
    } else {
      q_a_proj_ = Linear(b, m + "q_a_proj", width, a.integer("q_rank"), bias);
      q_norm_ = RmsNorm(b, m + "q_a_layernorm", a.integer("q_rank"));
      q_b_proj_ = Linear(b, m + "q_b_proj", a.integer("q_rank"), q, false);
    }
    kv_a_proj_ = Linear(b, m + "kv_a_proj_with_mqa", width, rank_ + turned_, bias);
    kv_norm_ = RmsNorm(b, m + "kv_a_layernorm", rank_);
    kv_b_proj_ = Linear(b, m + "kv_b_proj", rank_, saturating_mul(heads_, nope_ + values_), false);
    o_proj_ = Linear(b, m + "o_proj", saturating_mul(heads_, values_), width, bias);
    if (!sparse_) return;
    if (b.facts.attention == Attention::flash_attention_2) a.unmodelled("flash attention over chosen tokens");
    if (a.flag("indexes", true)) indexer_ = Indexer(a, b, m + "indexer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const Dims rows{x->sizes[0], x->sizes[1]};
    Tensor narrow;
    if (sparse_) narrow = q_norm_(play, q_a_proj_(play, x));
    const Tensor wide = sparse_ ? q_b_proj_(play, narrow) : queries(play, x);
    const Tensor q_states = t.transpose(t.view(wide, {rows[0], rows[1], -1, nope_ + turned_}), 1, 2);
    std::vector<Tensor> q;
    if (rotary_ != Rotary::none) q = t.split_sizes(q_states, {nope_, turned_}, 3);
    const Tensor compressed = kv_a_proj_(play, x);
    std::vector<Tensor> kv = t.split_sizes(compressed, {rank_, turned_}, 2);
    kv[0] = kv_norm_(play, kv[0]);
    kv[1] = t.view(kv[1], {rows[0], 1, rows[1], turned_});
    if (!q.empty()) rotate(t, rotary_, q[1], kv[1], s.arguments.cos[0], s.arguments.sin[0]);
    Tensor query = q.empty() ? q_states : t.cat({q[0], q[1]}, 3);
    if (by_position_) query = scaled_by_position(t, query);
    const auto [key, value] = expanded(play, kv[0], kv[1]);
    Tensor chosen;
    Tensor unchosen;
    Tensor mask = s.arguments.mask(Span::full);
    if (sparse_) {
      chosen = indexer_ ? indexer_(play, s, x, narrow) : s.arguments.bias;
      if (hands_on_) s.arguments.bias = chosen;
      unchosen = index_mask(t, chosen);
      mask = without_unchosen(t, mask, unchosen);
    }
    Restore own_mask(s.arguments.mask(Span::full), std::move(mask));
    const Tensor out = t.reshape(attend(play, s, query, key, value, kind_), {rows[0], rows[1], -1});
    s.hidden = o_proj_(play, out);
  }

 private:
  Tensor queries(Play& play, const Tensor& x) const {
    return q_a_proj_.out_width() == 0 ? q_proj_(play, x) : q_b_proj_(play, q_norm_(play, q_a_proj_(play, x)));
  }

  /// expand_kv: keys and values of all heads.
  std::pair<Tensor, Tensor> expanded(Play& play, const Tensor& latent, const Tensor& turned) const {
    Torch& t = play.torch;
    const Dims& sizes = latent->sizes;
    const Tensor both = t.transpose(t.view(kv_b_proj_(play, latent), {sizes[0], sizes[1], -1, nope_ + values_}), 1, 2);
    const std::vector<Tensor> parts = t.split_sizes(both, {nope_, values_}, 3);
    const Tensor shared = t.expand(turned, {sizes[0], heads_, sizes[1], turned_});
    Tensor keys = t.empty({sizes[0], heads_, sizes[1], nope_ + turned_}, both->dtype, "aten::new_empty");
    keys = set_part(t, keys, parts[0]);
    keys = set_part(t, keys, shared);
    return {std::move(keys), parts[1]};
  }

  std::int64_t heads_;
  std::int64_t nope_;    ///< Of a head of queries and keys, what is not turned.
  std::int64_t turned_;  ///< And what is.
  std::int64_t values_;
  std::int64_t rank_;
  Rotary rotary_;
  bool by_position_;
  bool sparse_;
  bool hands_on_;
  AttentionKind kind_;
  std::int32_t module_;
  Linear q_proj_{}, q_a_proj_{}, q_b_proj_{}, kv_a_proj_{}, kv_b_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, kv_norm_{};
  Indexer indexer_{};
};

}  // namespace

extern const OpType latent_attention;
const OpType latent_attention{"latent_attention", make_module<LatentAttention>};

}  // namespace oomplan::estimator::ops
