// Gemma3nTextMLP: a gated MLP whose gate, in sparse layers, is cut at so many standard deviations.
#include "modules/activation.hpp"
#include "modules/linear.hpp"
#include "torch/reductions.hpp"

namespace oomplan::estimator::ops {
namespace {

class GaussianMlp final : public Module {
 public:
  GaussianMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "gelu_pytorch_tanh"), b)),
        sparse_(a.flag("sparse", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    gate_ = Linear(b, m + "gate_proj", a.integer("width"), a.integer("inner"), false);
    up_ = Linear(b, m + "up_proj", a.integer("width"), a.integer("inner"), false);
    down_ = Linear(b, m + "down_proj", a.integer("inner"), a.integer("width"), false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.streams.held.push_back(s.hidden);  // attn_norm
    {
      Restore module(t.recorder.scope.module, std::int32_t{module_});
      s.hidden = mlp(play, s.hidden);
    }
    s.streams.held.push_back(s.hidden);  // attn_ffw
  }

 private:
  Tensor mlp(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor gate = gate_(play, x);
    if (sparse_) gate = largest(t, gate);
    const Tensor activations = activation_(t, gate);
    const Tensor up = up_(play, x);
    return down_(play, t.mul(activations, up));
  }

  /// _gaussian_topk
  static Tensor largest(Torch& t, const Tensor& x) {
    const Tensor target = t.empty({}, DType::fp32, "aten::_to_copy");
    const Tensor multiplier = t.empty({}, x->dtype, "aten::_to_copy");
    const Tensor mean = t.mean_last(x);
    const Tensor deviation = std_last(t, x);
    const Tensor cutoff = t.add(mean, t.mul(deviation, multiplier));
    return t.relu(t.sub(x, cutoff));
  }

  Activation activation_;
  bool sparse_;
  std::int32_t module_;
  Linear gate_{}, up_{}, down_{};
};

}  // namespace

extern const OpType gaussian_mlp;
const OpType gaussian_mlp{"gaussian_mlp", make_module<GaussianMlp>};

}  // namespace oomplan::estimator::ops
