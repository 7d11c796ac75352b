// Idefics 3: the model's output holds what its tower returned, the features among it (mm_encoder_outputs["image"]).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ReturnFeatures final : public Module {
 public:
  ReturnFeatures(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override {
    s.returned = s.seen.kept;
    if (s.seen.features) s.returned.push_back(s.seen.features);
  }
};

}  // namespace

extern const OpType return_features;
const OpType return_features{"return_features", make_module<ReturnFeatures>};

}  // namespace oomplan::estimator::ops
