// Before layers that are given their hidden states by keyword: a reentrant checkpoint looks at positional arguments
// alone, sees none that asks for a gradient, and what it returns asks for none (torch/utils/checkpoint.py:
// CheckpointFunction; transformers' GradientCheckpointingLayer).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class UnseenInputs final : public Module {
 public:
  UnseenInputs(const Attributes& a, Builder&) : width_(a.integer("width")) {}
  void forward(Play& play, Stream& s) const override {
    s.hidden = play.torch.view(s.hidden, {s.hidden->sizes[0], -1, width_});
    if (play.facts.checkpointing && play.facts.reentrant) s.hidden = play.torch.detach(s.hidden);
  }

 private:
  std::int64_t width_;
};

}  // namespace

extern const OpType unseen_inputs;
const OpType unseen_inputs{"unseen_inputs", make_module<UnseenInputs>};

}  // namespace oomplan::estimator::ops
