// The end of Gemma3nTextDecoderLayer.forward: Gemma3nTextAltUp.correct, and what the layer's own input adds to every
// copy but the first.
#include "modules/activation.hpp"
#include "modules/altup.hpp"
#include "torch/scans.hpp"
#include "torch/slices.hpp"

namespace oomplan::estimator::ops {
namespace {

class AltUpCorrect final : public Module {
 public:
  AltUpCorrect(const Attributes& a, Builder& b)
      : inputs_(a.integer("inputs")),
        clipped_(a.number("clip", 0.0) > 0.0),
        activation_(find_activation(a.text("activation", "gelu_pytorch_tanh"), b)) {
    const std::int64_t width = a.integer("width");
    const std::int64_t each = a.integer("each");
    coefficients_ = Linear(b, a.module() + ".correction_coefs", inputs_, inputs_, false);
    scale_ = b.weight(a.module() + ".correct_output_scale", {width}, Part::norm);
    scales_ = a.flag("scales", true);
    gate_ = Linear(b, "per_layer_input_gate", width, each, false);
    projection_ = Linear(b, "per_layer_projection", each, width, false);
    norm_ = RmsNorm(b, "post_per_layer_input_norm", width, RmsStyle::raised);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.streams.held.push_back(s.hidden);  // attn_ffw_norm
    const Tensor activated = t.add(s.residual, s.hidden);
    const Tensor corrected = correct(play, s.streams, activated);
    Tensor first = t.clone(t.select(corrected, 0));
    if (scales_) first = t.to(t.mul(t.to(first, scale_->dtype), scale_), first->dtype);
    first = gate_(play, first);
    first = activation_(t, first);
    first = t.mul(first, s.arguments.per_layer);
    first = projection_(play, first);
    first = norm_(play, first);
    add_to_others(t, corrected, first);
    s.hidden = corrected;
  }

 private:
  Tensor correct(Play& play, const Streams& all, const Tensor& activated) const {
    Torch& t = play.torch;
    const Tensor modalities = (*all.router)(play, activated);
    Tensor innovation = t.sub(activated, t.select(all.predictions, 0));
    innovation = repeat(t, innovation);
    Tensor coefficients =
        t.add_scalar(clipped_ && t.training ? t.linear(modalities, t.clamp(coefficients_.weight(play.facts)), {})
                                            : coefficients_(play, modalities));
    coefficients = t.unsqueeze(t.permute(coefficients, {2, 0, 1}), 3);
    Tensor corrected = t.mul(innovation, coefficients);
    corrected = t.add_(corrected, all.predictions);
    return t.to(t.contiguous(corrected), activated->dtype);
  }

  /// innovation.repeat(inputs, 1, 1, 1), whose backward sums up.
  Tensor repeat(Torch& t, const Tensor& x) const {
    NodeRef node = t.record("RepeatBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::sum");
    });
    if (node) node->dims = x->sizes;
    Dims sizes = x->sizes;
    sizes.insert(0, inputs_);
    return t.attach(node, t.empty(sizes, x->dtype, "aten::repeat"));
  }

  /// corrected_predictions[1:] += x, which Python writes as adding to a view, and setting the part to that view.
  void add_to_others(Torch& t, const Tensor& corrected, const Tensor& x) const {
    const Tensor others = t.slice(corrected, 0, 1, inputs_ - 1);
    const Tensor part = view_again(t, add_to_view(t, corrected, others, x), others);
    set_part(t, corrected, part);
  }

  std::int64_t inputs_;
  bool clipped_;
  bool scales_ = true;
  Activation activation_;
  Linear coefficients_{}, gate_{}, projection_{};
  Tensor scale_{};
  RmsNorm norm_{};
};

}  // namespace

extern const OpType altup_correct;
const OpType altup_correct{"altup_correct", make_module<AltUpCorrect>};

}  // namespace oomplan::estimator::ops
