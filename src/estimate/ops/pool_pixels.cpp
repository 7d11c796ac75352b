// The mean of all pixels, normed where the family has a norm there (ConvNeXT), for a classifier of pictures.
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"

namespace oomplan::estimator::ops {
namespace {

class PoolPixels final : public Module {
 public:
  PoolPixels(const Attributes& a, Builder& b) {
    if (!a.module().empty()) norm_ = LayerNorm(b, a.module(), a.integer("width"));
  }

  void forward(Play& play, Stream& s) const override {
    s.layer_output = s.hidden;  // The base model's output, which its caller holds.
    s.hidden = mean_of_pixels(play.torch, s.hidden);
    if (norm_) s.hidden = norm_(play, s.hidden);
  }

 private:
  LayerNorm norm_{};
};

}  // namespace

extern const OpType pool_pixels;
const OpType pool_pixels{"pool_pixels", make_module<PoolPixels>};

}  // namespace oomplan::estimator::ops
