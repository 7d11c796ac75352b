// audio_hidden_states.reshape(-1, width) of VoxtralModel: frames that follow each other side by side.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class WideFrames final : public Module {
 public:
  WideFrames(const Attributes& a, Builder&) : width_(a.integer("width")) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.reshape(s.hidden, {-1, width_}); }

 private:
  std::int64_t width_;
};

}  // namespace

extern const OpType wide_frames;
const OpType wide_frames{"wide_frames", make_module<WideFrames>};

}  // namespace oomplan::estimator::ops
