// The end of diffusers' UNet2DConditionModel.forward: a norm, an activation and the last convolution.
#include "modules/latents.hpp"
#include "modules/unet.hpp"

namespace oomplan::estimator::ops {
namespace {

class UnetEnd final : public Module {
 public:
  UnetEnd(const Attributes& a, Builder& b) {
    const std::int64_t width = number_in(a, "widths", 0);
    const std::int64_t kernel = a.integer("kernel", 3);
    if (a.integer("channels") != a.integer("in")) a.unmodelled("other channels out than in,");
    if (kernel % 2 == 0) a.unmodelled("an even conv_out_kernel");
    norm_ = GroupNorm(b, "conv_norm_out", a.integer("groups", 32), width);
    const Conv2d::Shape shape{.in = width, .out = a.integer("channels"), .kernel = kernel, .padding = (kernel - 1) / 2};
    convolution_ = Conv2d(b, "conv_out", shape);
  }
  void forward(Play& play, Stream& s) const override {
    s.hidden = norm_(play, s.hidden);
    s.hidden = play.torch.silu(s.hidden);
    s.hidden = convolution_(play, s.hidden);
  }

 private:
  GroupNorm norm_{};
  Conv2d convolution_{};
};

}  // namespace

extern const OpType unet_end;
const OpType unet_end{"unet_end", make_module<UnetEnd>};

}  // namespace oomplan::estimator::ops
