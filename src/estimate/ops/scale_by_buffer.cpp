// hidden_states *= self.layer_scalar, a buffer of one number.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ScaleByBuffer final : public Module {
 public:
  ScaleByBuffer(const Attributes&, Builder& b) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    factor_ = b.torch.empty({1}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    NodeRef node = t.record("MulBackward0", {&s.hidden}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor factor = torch.unpack(n, 0);
      g.out[0] = torch.pointwise({&g.in[0], &factor}, g.in[0]->dtype, "aten::mul");
    });
    t.save(node, 0, factor_);
    s.hidden = t.attach(node, s.hidden);
  }

 private:
  Tensor factor_{};
};

}  // namespace

extern const OpType scale_by_buffer;
const OpType scale_by_buffer{"scale_by_buffer", make_module<ScaleByBuffer>};

}  // namespace oomplan::estimator::ops
