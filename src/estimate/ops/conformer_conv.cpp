// Phi4MultimodalAudioConvModule after its norm: a gated layer over each frame, whose halves have biases of their own, a
// convolution of each channel over the frames before, and two layers over each frame, all of them as convolutions over
// batch x channels x frames.
#include "modules/activation.hpp"
#include "torch/convolution.hpp"

namespace oomplan::estimator::ops {
namespace {

class ConformerConv final : public Module {
 public:
  ConformerConv(const Attributes& a, Builder& b)
      : kernel_(a.integer("kernel")),
        gated_(find_activation(a.text("gate", "swish"), b)),
        activation_(find_activation(a.text("activation", "swish"), b)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t out = a.integer("out");
    const std::int64_t deep = saturating_mul(width, a.integer("multiplier", 1));
    const std::int64_t between = a.integer("between");
    if (out != width || between != width) a.unmodelled("channels of a convolution that are not those of the layer");
    first_bias_ = b.weight(m + "glu.b1", {1, out, 1}, Part::bias);
    gate_bias_ = b.weight(m + "glu.b2", {1, out, 1}, Part::bias);
    gate_ = weights(b, m + "glu.ext_pw_conv_1d", {2 * out, width, 1});
    by_channel_ = weights(b, m + "dw_sep_conv_1d.dw_conv", {deep, 1, kernel_});
    of_frame_ = weights(b, m + "dw_sep_conv_1d.pw_conv", {between, deep, 1});
    last_ = weights(b, m + "ext_pw_conv_1d", {out, width, 1});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    s.hidden = gated(t, t.permute(s.hidden, {0, 2, 1}));
    s.hidden = conv1d(t, s.hidden, by_channel_.weight, by_channel_.bias, kernel_ - 1);
    s.hidden = conv1d(t, s.hidden, of_frame_.weight, of_frame_.bias, 0);
    if (kernel_ > 1) s.hidden = t.slice(s.hidden, 2, 0, s.hidden->sizes[2] - (kernel_ - 1));
    s.hidden = activation_(t, s.hidden);
    s.hidden = t.permute(conv1d(t, s.hidden, last_.weight, last_.bias, 0), {0, 2, 1});
  }

 private:
  struct Weights {
    Tensor weight{};
    Tensor bias{};
  };

  static Weights weights(Builder& b, const std::string& name, const Dims& sizes) {
    const Tensor weight = b.convolution(name, sizes);
    return {weight, b.weight(name + ".bias", {sizes[0]}, Part::bias)};
  }

  /// Phi4MultimodalAudioGluPointWiseConv
  Tensor gated(Torch& t, const Tensor& x) const {
    const Tensor both = conv1d(t, x, gate_.weight, gate_.bias, 0);
    const std::int64_t half = both->sizes[1] / 2;
    Tensor out = t.add(t.slice(both, 1, 0, half), first_bias_);
    out = t.mul(out, gated_(t, t.add(t.slice(both, 1, half, half), gate_bias_)));
    return out;
  }

  std::int64_t kernel_;
  Activation gated_;
  Activation activation_;
  std::int32_t module_;
  Weights gate_{}, by_channel_{}, of_frame_{}, last_{};
  Tensor first_bias_{}, gate_bias_{};
};

}  // namespace

extern const OpType conformer_conv;
const OpType conformer_conv{"conformer_conv", make_module<ConformerConv>};

}  // namespace oomplan::estimator::ops
