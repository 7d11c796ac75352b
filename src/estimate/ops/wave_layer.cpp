// A layer of Wav2Vec2FeatureEncoder: a convolution over a wave, a norm of each channel (the first layer's, `group`) or
// over channels (`layer`), and an activation. The first takes the samples, and asks them for a gradient.
#include "modules/activation.hpp"
#include "modules/group_norm.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "torch/convolution.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class Norm { none, group, layer };
constexpr std::array<std::string_view, 3> norms{"none", "group", "layer"};

class WaveLayer final : public Module {
 public:
  WaveLayer(const Attributes& a, Builder& b)
      : stride_(a.integer("stride")),
        kind_(static_cast<Norm>(a.choice("norm", norms))),
        activation_(find_activation(a.text("activation", "gelu"), b)) {
    const std::int64_t width = a.integer("width");
    weight_ = b.convolution("conv", {width, a.integer("in"), a.integer("kernel")});
    if (a.flag("bias", false)) bias_ = b.weight("conv.bias", {width}, Part::bias);
    if (kind_ == Norm::layer) norm_ = LayerNorm(b, "layer_norm", width);
    if (kind_ != Norm::group) return;
    scale_ = b.weight("layer_norm.weight", {width}, Part::norm);
    shift_ = b.weight("layer_norm.bias", {width}, Part::norm);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.hidden = conv1d(t, s.hidden, weight_, bias_, 0, stride_);
    if (kind_ == Norm::group) s.hidden = group_norm(t, s.hidden, scale_, shift_, s.hidden->sizes[1]);
    if (kind_ == Norm::layer) s.hidden = t.transpose(norm_(play, t.transpose(s.hidden, 1, 2)), 1, 2);
    s.hidden = activation_(t, s.hidden);
  }

 private:
  std::int64_t stride_;
  Norm kind_;
  Activation activation_;
  Tensor weight_{}, bias_{}, scale_{}, shift_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType wave_layer;
const OpType wave_layer{"wave_layer", make_module<WaveLayer>};

}  // namespace oomplan::estimator::ops
