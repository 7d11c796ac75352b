// CohereLayerNorm: a layer norm without bias as transformers writes it in Python, in fp32.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MeanNorm final : public Module {
 public:
  MeanNorm(const Attributes& a, Builder& b)
      : weight_(b.weight(a.module() + ".weight", {a.integer("width")}, Part::norm)), module_(b.module_id(a.module())) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const DType dtype = s.hidden->dtype;
    Tensor hidden = t.to(s.hidden, DType::fp32);
    const Tensor mean = t.mean_last(hidden);
    const Tensor variance = t.mean_last(t.pow_scalar(t.sub(hidden, mean)));
    const Tensor centred = t.sub(hidden, mean);
    hidden = t.mul(centred, t.rsqrt(t.add_scalar(variance)));
    hidden = t.mul(t.to(weight_, DType::fp32), hidden);
    s.hidden = t.to(hidden, dtype);
  }

 private:
  Tensor weight_;
  std::int32_t module_;
};

}  // namespace

extern const OpType mean_norm;
const OpType mean_norm{"mean_norm", make_module<MeanNorm>};

}  // namespace oomplan::estimator::ops
