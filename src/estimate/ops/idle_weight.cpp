// A parameter that a tower's own class holds, or numbers of its own that are none (`buffer`), where no row has anything
// for the tower.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class IdleWeight final : public Module {
 public:
  IdleWeight(const Attributes& a, Builder& b) {
    const Dims sizes{a.integer("times", 1), a.integer("rows", 1), a.integer("width")};
    if (!a.flag("buffer", false)) {
      held_ = b.weight(a.module(), sizes, Part::embedding);
      return;
    }
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    held_ = b.torch.empty(sizes, b.facts.weights, "buffer");
  }
  void forward(Play&, Stream&) const override {}

 private:
  Tensor held_{};
};

}  // namespace

extern const OpType idle_weight;
const OpType idle_weight{"idle_weight", make_module<IdleWeight>};

}  // namespace oomplan::estimator::ops
