// torch.arange(length) + past_seen_tokens, as every decoder's forward begins.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class PositionIds final : public Module {
 public:
  PositionIds(const Attributes&, Builder&) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor range = t.empty({play.facts.length}, DType::int64, "aten::arange");
    s.position_ids = t.unsqueeze(t.add_scalar(range), 0);
  }
};

}  // namespace

extern const OpType position_ids;
const OpType position_ids{"position_ids", make_module<PositionIds>};

}  // namespace oomplan::estimator::ops
