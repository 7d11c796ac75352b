// MiniMaxLightningAttention: linear attention in blocks, with decays in buffers of each layer. Its loop's variables
// live until the next block's are made, and the last ones until it returns.
#include <algorithm>

#include "modules/activation.hpp"
#include "modules/causal_conv.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class LightningAttention final : public Module {
 public:
  LightningAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        head_dim_(a.integer("head_dim")),
        block_(a.integer("block")),
        activation_(find_activation(a.text("activation", "silu"), b)),
        module_(b.module_id(a.module())) {
    constexpr std::int64_t most_blocks = 512;
    if (divided_up(b.facts.length, block_) > most_blocks) a.unmodelled("rows of so many blocks");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = saturating_mul(heads_, head_dim_);
    norm_ = RmsNorm(b, m + "norm", inner);
    qkv_ = Linear(b, m + "qkv_proj", width, saturating_mul(3, inner), false);
    out_ = Linear(b, m + "out_proj", inner, width, false);
    gate_ = Linear(b, m + "output_gate", width, inner, false);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    const auto buffer = [&](const Dims& sizes) { return b.torch.empty(sizes, b.facts.weights, "buffer"); };
    slope_ = buffer({heads_, 1, 1});
    query_decay_ = buffer({heads_, block_, 1});
    key_decay_ = buffer({heads_, block_, 1});
    diagonal_decay_ = buffer({1, heads_, block_, block_});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const std::int64_t length = x->sizes[1];
    Tensor qkv = activation_(t, qkv_(play, x));
    qkv = without_padding(t, qkv, s.arguments.recurrent_mask);
    qkv = t.view(qkv, {x->sizes[0], length, heads_, 3 * head_dim_});
    std::vector<Tensor> heads = t.split(qkv, head_dim_, 3);
    for (Tensor& part : heads) part = t.transpose(part, 1, 2);
    Block at;
    at.inter = t.zeros({x->sizes[0], heads_, head_dim_, head_dim_}, heads[2]->dtype);
    std::vector<Tensor> outputs;
    for (std::int64_t start = 0; start < length; start += block_) {
      outputs.push_back(play_block(t, heads, start, std::min(block_, length - start), at));
    }
    Tensor out = cat_all(t, outputs, 2);
    outputs.clear();
    out = t.reshape(t.transpose(out, 1, 2), {x->sizes[0], length, -1});
    out = norm_(play, out);
    out = t.mul(t.sigmoid(gate_(play, x)), out);
    s.hidden = out_(play, out);
    s.attn_weights = at.inter;
  }

 private:
  /// The loop's variables that outlive a block.
  struct Block {
    Tensor decay{};
    Tensor weights{};
    Tensor out_intra{};
    Tensor out_inter{};
    Tensor out{};
    Tensor next_inter{};
    Tensor inter{};
  };

  Tensor play_block(Torch& t, const std::vector<Tensor>& heads, std::int64_t start, std::int64_t size,
                    Block& at) const {
    const Tensor q = t.slice(heads[0], 2, start, size);
    const Tensor k = t.slice(heads[1], 2, start, size);
    const Tensor v = t.slice(heads[2], 2, start, size);
    const Tensor query_decay = t.slice(query_decay_, 1, 0, size);
    const Tensor key_decay = t.slice(key_decay_, 1, block_ - size, size);
    const Tensor diagonal_decay = t.slice(t.slice(diagonal_decay_, 2, 0, size), 3, 0, size);
    at.decay = t.exp(t.mul_scalar(t.neg(slope_)));
    at.weights = t.matmul(q, t.transpose(k, 2, 3));
    at.out_intra = t.matmul(t.mul(at.weights, diagonal_decay), v);
    at.out_inter = t.matmul(t.mul(q, query_decay), at.inter);
    at.out = t.add(at.out_inter, at.out_intra);
    at.next_inter = t.matmul(t.transpose(t.mul(k, key_decay), 2, 3), v);
    at.inter = t.add(t.mul(at.inter, at.decay), at.next_inter);
    return at.out;
  }

  std::int64_t heads_;
  std::int64_t head_dim_;
  std::int64_t block_;
  Activation activation_;
  std::int32_t module_;
  RmsNorm norm_{};
  Linear qkv_{}, out_{}, gate_{};
  Tensor slope_{}, query_decay_{}, key_decay_{}, diagonal_decay_{};
};

}  // namespace

extern const OpType lightning_attention;
const OpType lightning_attention{"lightning_attention", make_module<LightningAttention>};

}  // namespace oomplan::estimator::ops
