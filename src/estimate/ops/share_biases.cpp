// T5Stack: the biases that the first block returns are every later block's, as each returns what it got.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ShareBiases final : public Module {
 public:
  ShareBiases(const Attributes& a, Builder&) : returns_(a.flag("returns", false)), weights_(a.flag("weights", false)) {}

  void forward(Play& play, Stream& s) const override {
    if (!returns_) {
      s.shares_bias = true;
      return;
    }
    play.torch.beside = {s.arguments.bias, s.arguments.cross_bias};
    if (!weights_) return;
    play.torch.beside[2] = s.block_weights[0];
    play.torch.beside[3] = s.block_weights[1];
  }

 private:
  bool returns_;
  bool weights_;  ///< LongT5's decoder: those of eager attention too.
};

}  // namespace

extern const OpType share_biases;
const OpType share_biases{"share_biases", make_module<ShareBiases>};

}  // namespace oomplan::estimator::ops
