// RwkvFeedForward: each token mixed with the one before it, a squared ReLU, and a gate. (What the model divides by 2
// after some layers while it evaluates is smaller than what these take.)
#include "modules/linear.hpp"
#include "modules/token_shift.hpp"

namespace oomplan::estimator::ops {
namespace {

class RwkvMlp final : public Module {
 public:
  RwkvMlp(const Attributes& a, Builder& b) : module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = a.integer("inner");
    mix_key_ = b.weight(m + "time_mix_key", {1, 1, width}, Part::bias);
    mix_receptance_ = b.weight(m + "time_mix_receptance", {1, 1, width}, Part::bias);
    key_ = Linear(b, m + "key", width, inner, false);
    receptance_ = Linear(b, m + "receptance", width, width, false);
    value_ = Linear(b, m + "value", inner, width, false);
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = fed(play, s.hidden);
  }

 private:
  Tensor fed(Play& play, const Tensor& hidden) const {
    Torch& t = play.torch;
    const Tensor shifted = shifted_by_one(t, hidden);
    Tensor key = mixed(t, hidden, shifted, mix_key_);
    Tensor receptance = mixed(t, hidden, shifted, mix_receptance_);
    key = squared(t, key_(play, key));
    const Tensor value = value_(play, key);
    receptance = t.sigmoid(receptance_(play, receptance));
    return t.mul(receptance, value);
  }

  static Tensor squared(Torch& t, Tensor x) {
    x = t.relu(x);
    return t.pow_scalar(x);
  }

  std::int32_t module_;
  Tensor mix_key_{}, mix_receptance_{};
  Linear key_{}, receptance_{}, value_{};
};

}  // namespace

extern const OpType rwkv_mlp;
const OpType rwkv_mlp{"rwkv_mlp", make_module<RwkvMlp>};

}  // namespace oomplan::estimator::ops
