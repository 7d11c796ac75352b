// Lfm2ShortConv: a short convolution between two gates, of three thirds of one projection.
#include "modules/causal_conv.hpp"
#include "modules/linear.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

class ShortConv final : public Module {
 public:
  ShortConv(const Attributes& a, Builder& b)
      : width_(a.integer("width")), older_(a.find(older_code) != nullptr), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const bool bias = a.flag("bias", false);
    conv_ = CausalConv(a, b, m + "conv", width_, a.integer("kernel"), bias);
    in_proj_ = Linear(b, m + "in_proj", width_, saturating_mul(3, width_), bias);
    out_proj_ = Linear(b, m + "out_proj", width_, width_, bias);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor hidden = without_padding(t, s.hidden, s.arguments.recurrent_mask, older_);
    const Tensor all = t.transpose(in_proj_(play, hidden), 1, 2);
    const std::vector<Tensor> parts = t.split(all, width_, 1);
    hidden = t.mul(parts[0], parts[2]);
    hidden = conv_(play, hidden);
    Tensor y = t.mul(parts[1], hidden);
    y = t.contiguous(t.transpose(y, 1, 2));
    s.hidden = out_proj_(play, y);
  }

 private:
  std::int64_t width_;
  bool older_;
  std::int32_t module_;
  CausalConv conv_{};
  Linear in_proj_{}, out_proj_{};
};

}  // namespace

extern const OpType short_conv;
const OpType short_conv{"short_conv", make_module<ShortConv>};

}  // namespace oomplan::estimator::ops
