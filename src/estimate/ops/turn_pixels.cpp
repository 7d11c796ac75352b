// features.permute(0, 2, 3, 1) or back: channels last, as linear layers want them.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class TurnPixels final : public Module {
 public:
  TurnPixels(const Attributes& a, Builder&) : back_(a.flag("back", false)) {}
  void forward(Play& play, Stream& s) const override {
    s.hidden = back_ ? play.torch.permute(s.hidden, {0, 3, 1, 2}) : play.torch.permute(s.hidden, {0, 2, 3, 1});
  }

 private:
  bool back_;
};

}  // namespace

extern const OpType turn_pixels;
const OpType turn_pixels{"turn_pixels", make_module<TurnPixels>};

}  // namespace oomplan::estimator::ops
