// audio_features[audio_features_mask]: those of a clip's frames that are no padding, in one row; all of them are real.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class RealFrames final : public Module {
 public:
  RealFrames(const Attributes&, Builder&) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Dims& sizes = s.hidden->sizes;
    const std::int64_t rows = saturating_mul(sizes[0], sizes[1]);
    const Tensor places = t.empty({rows, 2}, DType::int64, "aten::nonzero");
    s.hidden = t.index_rows(t.view(s.hidden, {rows, sizes[2]}), t.alias(places, {rows}, {2}));
  }
};

}  // namespace

extern const OpType real_frames;
const OpType real_frames{"real_frames", make_module<RealFrames>};

}  // namespace oomplan::estimator::ops
