// torch.nn.Embedding of the input ids; its output begins the residual stream.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Embedding final : public Module {
 public:
  Embedding(const Attributes& a, Builder& b)
      : weight_(b.embedding(a.module(), {a.integer("rows"), a.integer("width")})) {
    b.embedding_weight = weight_;
  }

  void forward(Play& play, Stream& s) const override {
    s.inputs_embeds = play.torch.embedding(weight_, s.input_ids);
    // peft asks the embedding's output for a gradient where a frozen model is checkpointed
    // (enable_input_require_grads).
    if (play.facts.lora && play.facts.checkpointing) s.inputs_embeds->requires_grad = true;
    s.hidden = s.inputs_embeds;
  }

 private:
  Tensor weight_;
};

}  // namespace

extern const OpType embedding;
const OpType embedding{"embedding", make_module<Embedding>};

}  // namespace oomplan::estimator::ops
