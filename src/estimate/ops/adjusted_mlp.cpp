// Lfm2MLP: w2(silu(w1(x)) * w3(x)), whose inner width is two thirds of the config's, times a factor, rounded up to a
// multiple, where the config says so.
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

std::int64_t inner_width(const Attributes& a) {
  const std::int64_t inner = a.integer("inner");
  if (!a.flag("adjusted", false)) return inner;
  const auto two_thirds = static_cast<std::int64_t>(static_cast<double>(saturating_mul(2, inner)) / 3);
  constexpr double widest = 1 << 24;
  const double factored = a.number("factor", 1.0) * static_cast<double>(two_thirds);
  if (factored < 1 || factored > widest) {
    a.unmodelled("an MLP whose factor leaves it no width, or too much,");
    return inner;
  }
  const std::int64_t multiple = a.integer("multiple_of");
  return saturating_mul(multiple, divided_up(static_cast<std::int64_t>(factored), multiple));
}

class AdjustedMlp final : public Module {
 public:
  AdjustedMlp(const Attributes& a, Builder& b) : module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = inner_width(a);
    w1_ = Linear(b, m + "w1", width, inner, false);
    w3_ = Linear(b, m + "w3", width, inner, false);
    w2_ = Linear(b, m + "w2", inner, width, false);
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = w2_(play, gated(play, s.hidden));
  }

 private:
  Tensor gated(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor gate = t.silu(w1_(play, x));
    return t.mul(gate, w3_(play, x));
  }

  std::int32_t module_;
  Linear w1_{}, w3_{}, w2_{};
};

}  // namespace

extern const OpType adjusted_mlp;
const OpType adjusted_mlp{"adjusted_mlp", make_module<AdjustedMlp>};

}  // namespace oomplan::estimator::ops
