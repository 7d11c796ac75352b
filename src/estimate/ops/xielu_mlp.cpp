// ApertusMLP: two projections, and between them xIELU, which has two weights of its own, as transformers writes it in
// Python (activations.py: XIELUActivation, without the package of its CUDA kernel).
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class XieluMlp final : public Module {
 public:
  XieluMlp(const Attributes& a, Builder& b) : module_(b.module_id(a.module())) {
    if (a.text("activation", "xielu") != "xielu") a.unmodelled("activations other than xielu");
    const std::string m = a.module() + ".";
    up_ = Linear(b, m + "up_proj", a.integer("width"), a.integer("inner"), false);
    down_ = Linear(b, m + "down_proj", a.integer("inner"), a.integer("width"), false);
    alpha_p_ = b.weight(m + "act_fn.alpha_p", {1}, Part::bias);
    alpha_n_ = b.weight(m + "act_fn.alpha_n", {1}, Part::bias);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    beta_ = b.torch.empty({}, b.facts.weights, "buffer");
    eps_ = b.torch.empty({}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    s.hidden = down_(play, activated(t, up_(play, s.hidden)));
  }

 private:
  Tensor activated(Torch& t, const Tensor& x) const {
    const Tensor alpha_p = t.softplus(alpha_p_);
    const Tensor alpha_n = t.add(beta_, t.softplus(alpha_n_));
    const Tensor positive = t.pointwise({&x}, DType::boolean, "aten::gt");
    Tensor above = t.mul(alpha_p, x);
    above = t.mul(above, x);
    above = t.add(above, t.mul(beta_, x));
    Tensor bent = t.minimum(x, eps_);
    bent = t.expm1(bent);
    bent = t.sub(bent, x);
    bent = t.mul(bent, alpha_n);
    const Tensor below = t.add(bent, t.mul(beta_, x));
    bent.reset();
    return t.where(positive, above, below);
  }

  std::int32_t module_;
  Linear up_{}, down_{};
  Tensor alpha_p_{}, alpha_n_{}, beta_{}, eps_{};
};

}  // namespace

extern const OpType xielu_mlp;
const OpType xielu_mlp{"xielu_mlp", make_module<XieluMlp>};

}  // namespace oomplan::estimator::ops
