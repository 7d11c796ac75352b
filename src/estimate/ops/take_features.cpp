// hidden_states[vision_feature_layer] of a tower, without its first token where that is the class's.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::array<std::string_view, 2> strategies{"full", "default"};

class TakeFeatures final : public Module {
 public:
  TakeFeatures(const Attributes& a, Builder&) : skips_(a.choice("strategy", strategies) == 1) {}
  void forward(Play& play, Stream& s) const override {
    s.seen.kept.push_back(s.taken);
    s.hidden = skips_ ? play.torch.slice(s.taken, 1, 1, s.taken->sizes[1] - 1) : s.taken;
  }

 private:
  bool skips_;
};

}  // namespace

extern const OpType take_features;
const OpType take_features{"take_features", make_module<TakeFeatures>};

}  // namespace oomplan::estimator::ops
