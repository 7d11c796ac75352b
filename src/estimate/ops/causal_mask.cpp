// transformers masking_utils.create_causal_mask: no tensor for sdpa and flash where no row is f.padding_mask, a boolean
// mask for sdpa where one is or the model never does without (`always`), an additive one in the model's dtype for eager
// attention, of which a model may make a boolean one again (`boolean`).
#include "modules/attention_mask.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::int64_t widest_flash_head = 256;

class CausalMask final : public Module {
 public:
  CausalMask(const Attributes& a, Builder& b)
      : window_(a.integer("window", 0)),
        span_(a.span("span")),
        always_(a.flag("always", false)),
        without_positions_(a.flag("without_positions", false)),
        unskipped_(a.flag("unskipped", false)),
        boolean_(a.flag("boolean", false)),
        unused_(a.flag("unused", false)),
        compiled_(a.flag("compiled", false)),
        unsloth_keeps_(a.flag("unsloth_keeps", false)),
        beyond_flash_(a.integer("head_dim", 0) > widest_flash_head) {
    if (b.facts.generates && window_ != 0 && b.facts.length >= window_)
      a.unmodelled("generated rows as long as a window of attention or longer");
    const std::int64_t kept = a.integer("buffer", 0);  // A mask of all positions that the model has and does not read.
    if (kept == 0) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    buffer_ = b.torch.empty({kept, kept}, DType::boolean, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    InBucket scores(t, Bucket::attention_scores);
    const bool windowed = window_ != 0 && f.length >= window_;
    if (f.unsloth) {  // LlamaModel_fast_forward drops what is sent in training.
      if (unsloth_keeps_ && !kept_) kept_ = of_numbers(t, f.length, s.inputs_embeds->dtype);
      return;
    }
    if (f.joined > 0) {  // flex_attention, compiled, has blocks of it alone.
      if (compiled_) s.arguments.mask(span_) = t.empty({1, 1, f.length, f.length}, DType::boolean, "inductor");
      return;
    }
    if (s.arguments.mask(span_)) return;  // Made by the model that this one is a part of.
    if (takes_flash(f.attention) && !(f.attention == Attention::flash_or_sdpa && beyond_flash_)) return;
    const bool padded = f.padding_mask && !(f.samples_joined && without_positions_);
    const bool in_pieces = f.told_of_pieces && !padded;
    const bool needed = padded || windowed || always_ || unskipped_ || in_pieces;
    if (f.attention != Attention::eager && !needed) return;
    // Collators send a mask with every batch. Where it is of ones, transformers looks and drops it, if that leaves
    // nothing that the kernel cannot do by itself.
    const bool sent = padded || always_ || ((windowed || unskipped_) && f.mask_sent);
    const bool in_numbers = f.additive_mask && f.attention == Attention::sdpa;
    if (in_pieces) {
      s.arguments.mask(span_) = of_pieces(t, f);
      return;
    }
    const Tensor mask = in_numbers ? number_mask(play, s.inputs_embeds->dtype)
                                   : attention_mask(play, allowed(t, f, windowed), s.inputs_embeds->dtype, sent);
    if (unused_) return s.seen.kept.push_back(mask);
    s.arguments.may_go(span_) = f.may_be_equal && !windowed && !always_ && !unskipped_;
    s.arguments.mask(span_) = boolean_ ? t.to(mask, DType::boolean) : mask;
  }

 private:
  /// Unsloth's SWA_mask and GA_mask by AttentionMaskConverter, which no row's padding is in.
  Tensor of_numbers(Torch& t, std::int64_t length, DType dtype) const {
    Restore no_grad(t.grad_enabled, false);
    const Dims sizes{length, length};
    Tensor mask = t.to(t.empty(sizes, DType::fp32, "aten::full"), dtype);
    if (window_ != 0) t.empty(sizes, DType::boolean, "aten::tril");
    return mask;
  }

  /// Keys of the query's own piece, by positions that begin anew (packed_sequence_mask_function).
  static Tensor of_pieces(Torch& t, const Facts& f) {
    const Dims sizes{f.batch, 1, f.length, f.length};
    const Tensor pieces = t.empty({f.batch, f.length}, DType::int64, "aten::cumsum");
    const Tensor yes = t.empty({}, DType::boolean, "aten::new_ones");
    const Tensor before = both(t, yes, t.empty({1, 1, f.length, f.length}, DType::boolean, "aten::le"));
    return both(t, before, t.empty(sizes, DType::boolean, "aten::eq"));
  }

  /// Which keys each query may see, alike for every row: kv <= q, and kv > q - window where there is a window.
  static Tensor allowed(Torch& t, const Facts& f, bool windowed) {
    const Dims sizes{1, 1, f.length, f.past + f.length};
    if (!windowed) return t.empty(sizes, DType::boolean, "aten::le");
    const Tensor yes = t.empty({}, DType::boolean, "aten::new_ones");
    const Tensor near = both(t, yes, t.empty(sizes, DType::boolean, "aten::gt"));
    return both(t, near, t.empty(sizes, DType::boolean, "aten::le"));
  }

  std::int64_t window_;
  Span span_;
  bool always_;
  bool without_positions_;  ///< It is made without them, so that nothing keeps joined samples apart.
  bool unskipped_;          ///< allow_is_causal_skip=False: what the kernel could do by itself is written down too.
  bool boolean_;
  bool unused_;         ///< No layer is given it: it goes with the model's forward function.
  bool compiled_;       ///< Of joined rows torch.compile makes it at once, for sdpa.
  bool unsloth_keeps_;  ///< Under Unsloth it is made in the first pass, and stays.
  bool beyond_flash_;   ///< Of heads that FlashAttention 2 does not take.
  Tensor buffer_{};
  mutable Tensor kept_{};
};

}  // namespace

extern const OpType causal_mask;
const OpType causal_mask{"causal_mask", make_module<CausalMask>};

}  // namespace oomplan::estimator::ops
