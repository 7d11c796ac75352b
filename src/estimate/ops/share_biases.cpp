// T5Stack: the biases that the first block returns are every later block's, as each returns what it got.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ShareBiases final : public Module {
 public:
  ShareBiases(const Attributes& a, Builder&) : returns_(a.flag("returns", false)) {}

  void forward(Play& play, Stream& s) const override {
    if (!returns_) {
      s.shares_bias = true;
      return;
    }
    play.torch.beside = {s.arguments.bias, s.arguments.cross_bias};
  }

 private:
  bool returns_;
};

}  // namespace

extern const OpType share_biases;
const OpType share_biases{"share_biases", make_module<ShareBiases>};

}  // namespace oomplan::estimator::ops
