// extract_features.transpose(1, 2): frames first, as linear layers want them.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class TurnFrames final : public Module {
 public:
  TurnFrames(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.transpose(s.hidden, 1, 2); }
};

}  // namespace

extern const OpType turn_frames;
const OpType turn_frames{"turn_frames", make_module<TurnFrames>};

}  // namespace oomplan::estimator::ops
