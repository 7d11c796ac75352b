// The second half of DaViT's two blocks: a convolution of each channel alone, and Florence2VisionMLP.
#include "modules/activation.hpp"
#include "modules/davit.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class DavitMlp final : public Module {
 public:
  DavitMlp(const Attributes& a, Builder& b)
      : half_(a, b, "conv2", "norm2"), activation_(find_activation(a.text("activation", "gelu"), b)) {
    constexpr double most = 1e6;
    const std::int64_t width = a.integer("width");
    const double ratio = std::min(a.number("ratio", 4.0), most);
    const auto inner = std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(width) * ratio), 1);
    const std::string m = a.module() + ".ffn";
    module_ = b.module_id(m);
    first_ = Linear(b, m + ".fc1", width, inner, true);
    second_ = Linear(b, m + ".fc2", inner, width, true);
  }

  void forward(Play& play, Stream& s) const override {
    half_(play, s, [&](const Tensor& x) {
      Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
      Tensor hidden = first_(play, x);
      hidden = activation_(play.torch, hidden);
      return second_(play, hidden);
    });
  }

 private:
  DavitHalf half_;
  Activation activation_;
  std::int32_t module_ = -1;
  Linear first_{}, second_{};
};

}  // namespace

extern const OpType davit_mlp;
const OpType davit_mlp{"davit_mlp", make_module<DavitMlp>};

}  // namespace oomplan::estimator::ops
