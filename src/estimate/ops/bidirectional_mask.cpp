// transformers masking_utils: create_bidirectional_mask, nothing where no row is padded, and
// create_bidirectional_sliding_window_mask, which rows as long as the window need too.
#include "modules/attention_mask.hpp"

namespace oomplan::estimator::ops {
namespace {

class BidirectionalMask final : public Module {
 public:
  BidirectionalMask(const Attributes& a, Builder&) : window_(a.integer("window", 0)), span_(a.span("span")) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    const bool windowed = window_ != 0 && f.length >= window_;
    if ((!f.padding_mask && !windowed) || f.attention == Attention::flash_attention_2) return;
    InBucket scores(t, Bucket::attention_scores);
    s.arguments.mask(span_) = attention_mask(play, allowed(t, f.length), s.hidden->dtype, true);  // Collators send one.
  }

 private:
  /// Every key; or those of which abs(q - kv) is within the window.
  Tensor allowed(Torch& t, std::int64_t length) const {
    const Tensor every = t.empty({1, 1, length, 1}, DType::boolean, "aten::ge");
    if (window_ == 0) return every;
    const Dims sizes{1, 1, length, length};
    Tensor distance = t.empty(sizes, DType::int64, "aten::sub");
    distance = t.empty(sizes, DType::int64, "aten::abs");
    const Tensor near = t.empty(sizes, DType::boolean, "aten::le");
    distance.reset();
    return both(t, both(t, t.empty({}, DType::boolean, "aten::new_ones"), near), every);
  }

  std::int64_t window_;
  Span span_;
};

}  // namespace

extern const OpType bidirectional_mask;
const OpType bidirectional_mask{"bidirectional_mask", make_module<BidirectionalMask>};

}  // namespace oomplan::estimator::ops
