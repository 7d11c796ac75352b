// torch.nn.LayerNorm.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class LayerNorm final : public Module {
 public:
  LayerNorm(const Attributes& a, Builder& b)
      : weight_(b.weight(a.module() + ".weight", {a.integer("width")})),
        bias_(b.weight(a.module() + ".bias", {a.integer("width")})),
        module_(b.module_id(a.module())) {}

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = play.torch.layer_norm(s.hidden, weight_, bias_);
  }

 private:
  Tensor weight_;
  Tensor bias_;
  std::int32_t module_;
};

}  // namespace

extern const OpType layer_norm;
const OpType layer_norm{"layer_norm", make_module<LayerNorm>};

}  // namespace oomplan::estimator::ops
