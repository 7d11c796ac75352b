// A linear layer of a tower that no row has anything for: held, quantised and adapted as any, and never run. Where it
// is a Gemma4ClippableLinear it stands within a module of its own, which has four numbers beside it.
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class IdleLinear final : public Module {
 public:
  IdleLinear(const Attributes& a, Builder& b) {
    const bool within = a.flag("clippable", false);
    if (within && b.facts.lora && b.targeted(a.module(), false))
      a.unmodelled("LoRA by names that the tower's Gemma4ClippableLinear has too, which peft refuses,");
    linear_ = Linear(b, a.module() + (within ? ".linear" : ""), a.integer("width"), a.integer("out"), false);
    if (!a.flag("clipped", false)) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    for (Tensor& limit : limits_) limit = b.torch.empty({}, b.facts.weights, "buffer");
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.token_types && s.sent.empty()) s.sent.push_back(t.empty({f.batch, f.length}, DType::int64, "batch"));
  }

  void forward(Play&, Stream&) const override {}

 private:
  Linear linear_{};
  std::array<Tensor, 4> limits_{};
};

}  // namespace

extern const OpType idle_linear;
const OpType idle_linear{"idle_linear", make_module<IdleLinear>};

}  // namespace oomplan::estimator::ops
