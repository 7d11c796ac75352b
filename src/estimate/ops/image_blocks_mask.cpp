// create_masks_for_vision_model: tokens of an image see all of that image, others what came before; made wherever rows
// say which tokens are images', for each row of its own.
#include "modules/attention_mask.hpp"

namespace oomplan::estimator::ops {
namespace {

class ImageBlocksMask final : public Module {
 public:
  ImageBlocksMask(const Attributes& a, Builder&)
      : asked_(a.text("value", "") == a.text("is", "")),
        always_(a.flag("always", false)),
        windowed_(a.count("window") > 0),
        span_(a.span("span")) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    if (!asked_ || (span_ == Span::sliding && !windowed_) || (!f.images.token_types && !always_) ||
        f.attention == Attention::flash_attention_2)
      return;
    InBucket scores(t, Bucket::attention_scores);
    const Tensor blocks = t.empty({f.batch, f.length}, DType::int64, "aten::where");
    const Tensor allowed = narrowed(t, f, seen(t, f));
    const Dims sizes{f.batch, 1, f.length, f.length};
    const bool eager = f.attention == Attention::eager;
    s.arguments.mask(span_) = eager ? t.empty(sizes, s.inputs_embeds->dtype, "aten::where") : allowed;
  }

 private:
  static Tensor square(Torch& t, const Facts& f, const char* op, std::int64_t rows) {
    return t.empty({rows, 1, f.length, f.length}, DType::boolean, op);
  }

  /// What came before, or is of the same image.
  static Tensor seen(Torch& t, const Facts& f) {
    Tensor before = square(t, f, "aten::le", 1);
    before = square(t, f, "aten::bitwise_or", 1);
    Tensor same = square(t, f, "aten::eq", f.batch);
    same = square(t, f, "aten::bitwise_and", f.batch);
    Tensor either = square(t, f, "aten::bitwise_or", f.batch);
    same.reset();
    before.reset();
    return square(t, f, "aten::bitwise_and", f.batch);
  }

  /// Within the window, and where no token is padding.
  Tensor narrowed(Torch& t, const Facts& f, Tensor allowed) const {
    if (windowed_) {
      Tensor near = square(t, f, "aten::gt", 1);
      near = square(t, f, "aten::bitwise_and", f.batch);
      allowed = square(t, f, "aten::bitwise_and", f.batch);
    }
    return square(t, f, "aten::bitwise_and", f.batch);
  }

  bool asked_;   ///< By `value`, a word of the config that `is` another; where neither stands there, always.
  bool always_;  ///< Also where rows do not say which tokens are images'.
  bool windowed_;
  Span span_;
};

}  // namespace

extern const OpType image_blocks_mask;
const OpType image_blocks_mask{"image_blocks_mask", make_module<ImageBlocksMask>};

}  // namespace oomplan::estimator::ops
