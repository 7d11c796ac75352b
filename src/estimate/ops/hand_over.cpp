// A tower's last step: what it made becomes the images' features.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class HandOver final : public Module {
 public:
  HandOver(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override { s.seen.features = s.hidden; }
};

}  // namespace

extern const OpType hand_over;
const OpType hand_over{"hand_over", make_module<HandOver>};

}  // namespace oomplan::estimator::ops
