// BeitDropPath and its like (stochastic depth): in training, whole rows are dropped, and the others scaled.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class DropPath final : public Module {
 public:
  DropPath(const Attributes& a, Builder&) : drops_(a.number("p", 0.0) > 0.0) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    if (!drops_ || !t.training) return;
    Dims sizes{s.hidden->sizes[0]};
    for (int i = 1; i < static_cast<int>(s.hidden->sizes.size()); ++i) sizes.push(1);
    Tensor kept = t.empty(sizes, s.hidden->dtype, "aten::rand");
    kept = t.empty(sizes, kept->dtype, "aten::add");
    kept = t.empty(sizes, kept->dtype, "aten::floor");
    s.hidden = t.mul(t.div_scalar(s.hidden), kept);
  }

 private:
  bool drops_;
};

}  // namespace

extern const OpType drop_path;
const OpType drop_path{"drop_path", make_module<DropPath>};

}  // namespace oomplan::estimator::ops
