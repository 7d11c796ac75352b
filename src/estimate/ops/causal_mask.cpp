// transformers masking_utils.create_causal_mask: no tensor for sdpa and flash where no row is padded, a boolean mask
// for sdpa where one is, an additive one in the model's dtype for eager attention.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class CausalMask final : public Module {
 public:
  CausalMask(const Attributes& a, Builder& b) : window_(a.integer("window", 0)) {
    // Qwen's use_sliding_window gives some layers another mask than the others.
    const bool some = a.flag("some_layers_windowed", false);
    if (some && b.facts.length >= window_) a.unmodelled("sliding-window layers among full ones");
    if (a.find("some_layers_windowed") != nullptr) window_ = 0;
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    InBucket scores(t, Bucket::attention_scores);
    const bool windowed = window_ != 0 && f.length >= window_;
    if (f.attention == Attention::flash_attention_2) return;
    if (f.attention == Attention::sdpa && !f.padding_mask && !windowed) return;
    const Dims sizes{f.batch, 1, f.length, f.length};
    const Dims shared{1, 1, f.length, f.length};  // The same for every row, unless rows are padded.
    const Tensor allowed = t.empty(f.padding_mask ? sizes : shared, DType::boolean, "aten::le");
    if (f.attention == Attention::sdpa) {
      s.mask = t.expand(allowed, sizes);
      return;
    }
    s.mask = t.empty(sizes, s.inputs_embeds->dtype, "aten::where");
  }

 private:
  std::int64_t window_;
};

}  // namespace

extern const OpType causal_mask;
const OpType causal_mask{"causal_mask", make_module<CausalMask>};

}  // namespace oomplan::estimator::ops
