// ResNetBottleNeckLayer and ResNetBasicLayer: convolutions, each with its norm over the batch, beside a shortcut, which
// is a convolution where the shape changes.
#include "modules/activation.hpp"
#include "modules/pictures.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::array<std::string_view, 2> kinds{"bottleneck", "basic"};

class ResnetLayer final : public Module {
 public:
  ResnetLayer(const Attributes& a, Builder& b) : activation_(find_activation(a.text("activation", "relu"), b)) {
    const std::int64_t in = a.integer("in", a.integer("out"));
    const std::int64_t out = a.integer("out");
    const std::int64_t stride = a.flag("halves", false) ? 2 : 1;
    if (in != out || stride != 1) shortcut_ = Convolution(b, "shortcut", in, out, 1, stride);
    if (a.choice("kind", kinds) == 1) {
      layers_.emplace_back(b, "layer.0", in, out, 3, stride);
      layers_.emplace_back(b, "layer.1", out, out, 3, 1);
      return;
    }
    const std::int64_t inner = std::max<std::int64_t>(out / 4, 1);
    const bool early = a.flag("halves_first", false);
    layers_.emplace_back(b, "layer.0", in, inner, 1, early ? stride : 1);
    layers_.emplace_back(b, "layer.1", inner, inner, 3, early ? 1 : stride);
    layers_.emplace_back(b, "layer.2", inner, out, 1, 1);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Tensor residual = s.hidden;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      s.hidden = layers_[i](play, s.hidden);
      if (i + 1 < layers_.size()) s.hidden = activation_(t, s.hidden);
    }
    if (shortcut_) residual = shortcut_(play, residual);
    s.hidden = t.add_(s.hidden, residual);
    s.hidden = activation_(t, s.hidden);
  }

 private:
  /// ResNetConvLayer but for its activation.
  class Convolution {
   public:
    Convolution() = default;
    Convolution(Builder& b, const std::string& name, std::int64_t in, std::int64_t out, std::int64_t kernel,
                std::int64_t stride)
        : convolution_(
              b, name + ".convolution",
              {.in = in, .out = out, .kernel = kernel, .stride = stride, .padding = kernel / 2, .bias = false}),
          norm_(b, name + ".normalization", out),
          there_(true) {}
    explicit operator bool() const { return there_; }
    Tensor operator()(Play& play, const Tensor& x) const { return norm_(play, convolution_(play, x)); }

   private:
    Conv2d convolution_{};
    BatchNorm2d norm_{};
    bool there_ = false;
  };

  Activation activation_;
  std::vector<Convolution> layers_{};
  Convolution shortcut_{};
};

}  // namespace

extern const OpType resnet_layer;
const OpType resnet_layer{"resnet_layer", make_module<ResnetLayer>};

}  // namespace oomplan::estimator::ops
