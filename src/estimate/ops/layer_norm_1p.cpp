// NemotronLayerNorm1P: a layer norm of weight + 1, whose arguments autocast casts to its own dtype.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class LayerNorm1p final : public Module {
 public:
  LayerNorm1p(const Attributes& a, Builder& b)
      : weight_(b.weight(a.module() + ".weight", {a.integer("width")}, Part::norm)),
        bias_(b.weight(a.module() + ".bias", {a.integer("width")}, Part::norm)),
        module_(b.module_id(a.module())) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const auto cast = [&](const Tensor& x) { return t.autocast() ? t.to(x, *t.autocast()) : x; };
    const Tensor above = t.add_scalar(weight_);
    const Tensor input = cast(s.hidden);
    const Tensor weight = cast(above);
    const Tensor bias = cast(bias_);
    t.enter_autocast({});
    Tensor out = t.layer_norm(input, weight, bias);
    t.exit_autocast();
    s.hidden = std::move(out);
  }

 private:
  Tensor weight_;
  Tensor bias_;
  std::int32_t module_;
};

}  // namespace

extern const OpType layer_norm_1p;
const OpType layer_norm_1p{"layer_norm_1p", make_module<LayerNorm1p>};

}  // namespace oomplan::estimator::ops
