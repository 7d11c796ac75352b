// hidden_states = hidden_states * a number of the config; of RecurrentGemma a buffer's, in the dtype that they have
// (`by_buffer`).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Scale final : public Module {
 public:
  Scale(const Attributes& a, Builder& b) {
    if (!a.flag("by_buffer", false)) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    buffer_ = b.torch.empty({}, DType::bf16, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.hidden = buffer_ ? t.mul(s.hidden, t.to(buffer_, s.hidden->dtype)) : t.mul_scalar(s.hidden);
  }

 private:
  Tensor buffer_{};
};

}  // namespace

extern const OpType scale;
const OpType scale{"scale", make_module<Scale>};

}  // namespace oomplan::estimator::ops
