// (hidden_states[pool_indices] + hidden_states[pool_indices + 1]) / 2 of Qwen2_5OmniAudioEncoder.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MeanOfPairs final : public Module {
 public:
  MeanOfPairs(const Attributes&, Builder&) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor first = t.index_rows(s.hidden, s.position_ids);
    const Tensor second = t.index_rows(s.hidden, t.empty(s.position_ids->sizes, DType::int64, "aten::add"));
    s.hidden = t.div_scalar(t.add(first, second));
  }
};

}  // namespace

extern const OpType mean_of_pairs;
const OpType mean_of_pairs{"mean_of_pairs", make_module<MeanOfPairs>};

}  // namespace oomplan::estimator::ops
