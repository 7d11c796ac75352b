// FalconDecoderLayer's norms: one for attention and MLP side by side, or one of each.
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class ParallelNorms final : public Module {
 public:
  ParallelNorms(const Attributes& a, Builder& b) {
    const std::int64_t width = a.integer("width");
    const bool grouped = a.flag("grouped", false);
    if (!grouped && !a.flag("parallel", true)) a.unmodelled("attention and MLP one after the other");
    const bool two = grouped && a.integer("norms", 2) == 2;
    first_ = LayerNorm(b, two ? "ln_attn" : "input_layernorm", width);
    if (two) second_ = LayerNorm(b, "ln_mlp", width);
  }

  void forward(Play& play, Stream& s) const override {
    const Tensor input = s.hidden;
    s.hidden = first_(play, input);
    if (second_) s.streams.held.push_back(s.hidden);  // attention_layernorm_out
    s.normed = second_ ? second_(play, input) : s.hidden;
  }

 private:
  LayerNorm first_{}, second_{};
};

}  // namespace

extern const OpType parallel_norms;
const OpType parallel_norms{"parallel_norms", make_module<ParallelNorms>};

}  // namespace oomplan::estimator::ops
