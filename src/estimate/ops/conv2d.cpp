// torch.nn.Conv2d as a step of its own, which leaves height and width as they are.
#include "modules/pictures.hpp"

namespace oomplan::estimator::ops {
namespace {

class Conv2dStep final : public Module {
 public:
  Conv2dStep(const Attributes& a, Builder& b) {
    const std::int64_t kernel = a.integer("kernel");
    const Conv2d::Shape shape{.in = a.integer("width"),
                              .out = a.integer("width"),
                              .kernel = kernel,
                              .padding = kernel / 2,
                              .groups = a.integer("groups", 1)};
    convolution_ = Conv2d(b, a.module(), shape);
  }
  void forward(Play& play, Stream& s) const override { s.hidden = convolution_(play, s.hidden); }

 private:
  Conv2d convolution_{};
};

}  // namespace

extern const OpType conv2d;
const OpType conv2d{"conv2d", make_module<Conv2dStep>};

}  // namespace oomplan::estimator::ops
