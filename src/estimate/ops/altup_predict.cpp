// Gemma3nTextDecoderLayer.forward begins with Gemma3nTextAltUp.predict: every copy as a mixture of all, of which the
// layer reads one. Another op of the layer corrects them.
#include "modules/altup.hpp"
#include "torch/slices.hpp"

namespace oomplan::estimator::ops {
namespace {

class AltUpPredict final : public Module {
 public:
  AltUpPredict(const Attributes& a, Builder& b)
      : inputs_(a.integer("inputs")),
        router_(b, a.module(), a.integer("width"), inputs_),
        coefficients_(b, a.module() + ".prediction_coefs", inputs_, saturating_mul(inputs_, inputs_), false) {
    if (coefficients_.weight(b.facts)) return;
    a.unmodelled(
        "quantized AltUp, whose weights transformers 5.23.0 clips while it trains, which stops at packed ones,");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.streams.router = &router_;
    s.streams.predictions = predict(play, s.hidden);
    s.streams.active = t.select(s.streams.predictions, 0);
    s.hidden = s.streams.active;
  }

 private:
  Tensor predict(Play& play, const Tensor& hidden) const {
    Torch& t = play.torch;
    const Tensor modalities = router_(play, t.select(hidden, 0));
    Dims square{modalities->sizes[0], modalities->sizes[1], inputs_, inputs_};
    const Tensor coefficients = t.permute(t.reshape(coefficients_(play, modalities), square), {0, 1, 3, 2});
    const Tensor product = t.matmul(t.permute(hidden, {1, 2, 3, 0}), coefficients);
    Tensor predictions = t.permute(product, {3, 0, 1, 2});
    predictions = view_again(t, add_to_view(t, product, predictions, hidden), predictions);
    return t.to(t.contiguous(predictions), hidden->dtype);
  }

  std::int64_t inputs_;
  AltUpRouter router_;
  Linear coefficients_;
};

}  // namespace

extern const OpType altup_predict;
const OpType altup_predict{"altup_predict", make_module<AltUpPredict>};

}  // namespace oomplan::estimator::ops
