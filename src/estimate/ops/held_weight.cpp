// A parameter of a tower that no row has anything for, or numbers that are none (`buffer`, in the
// model's dtype or in `fp32`).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class HeldWeight final : public Module {
 public:
  HeldWeight(const Attributes& a, Builder& b) {
    const Dims sizes{a.integer("times", 1), a.integer("rows", 1), a.integer("width")};
    if (!a.flag("buffer", false)) {
      held_ = b.weight(a.module(), sizes, Part::embedding);
      return;
    }
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    held_ = b.torch.empty(sizes, a.flag("fp32", false) ? DType::fp32 : b.facts.weights, "buffer");
  }
  void forward(Play&, Stream&) const override {}

 private:
  Tensor held_{};
};

}  // namespace

extern const OpType held_weight;
const OpType held_weight{"held_weight", make_module<HeldWeight>};

}  // namespace oomplan::estimator::ops
