// input_values[:, None] of Wav2Vec2FeatureEncoder, which asks the samples for a gradient where it is trained.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class WaveInput final : public Module {
 public:
  WaveInput(const Attributes& a, Builder& b) {
    if (a.flag("masked", false) && b.facts.padding_mask) a.unmodelled("padded sounds of models that are given a mask");
  }

  void forward(Play& play, Stream& s) const override {
    const Tensor& samples = s.input_ids;
    s.hidden = play.torch.unsqueeze(samples, 1);
    if (play.torch.training && play.torch.grad_enabled) s.hidden->requires_grad = true;
  }
};

}  // namespace

extern const OpType wave_input;
const OpType wave_input{"wave_input", make_module<WaveInput>};

}  // namespace oomplan::estimator::ops
