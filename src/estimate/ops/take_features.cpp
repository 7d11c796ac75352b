// hidden_states[vision_feature_layer] of a tower, without its first token where that is the class's; where several are
// taken, all of them side by side.
#include "play.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::array<std::string_view, 2> strategies{"full", "default"};

class TakeFeatures final : public Module {
 public:
  TakeFeatures(const Attributes& a, Builder&)
      : skips_(a.choice("strategy", strategies) == 1), several_(a.flag("several", false)) {}

  void forward(Play& play, Stream& s) const override {
    if (!several_) {
      s.seen.kept.push_back(s.taken);
      s.hidden = taken(play.torch, s.taken);
      return;
    }
    std::vector<Tensor> parts;
    for (const Tensor& state : s.taken_states) {
      s.seen.kept.push_back(state);
      parts.push_back(taken(play.torch, state));
    }
    s.hidden = cat_all(play.torch, parts, 2);
  }

 private:
  Tensor taken(Torch& t, const Tensor& state) const {
    return skips_ ? t.slice(state, 1, 1, state->sizes[1] - 1) : state;
  }

  bool skips_;
  bool several_;
};

}  // namespace

extern const OpType take_features;
const OpType take_features{"take_features", make_module<TakeFeatures>};

}  // namespace oomplan::estimator::ops
