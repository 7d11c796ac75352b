// The end of MllamaVisionModel.forward: what the last layer left and, beside it, what some layers before it did,
// without the rows that fill a tile up. As `after` of a layer (`keep`) it keeps what that one left.
#include "modules/vision.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class TileFeatures final : public Module {
 public:
  TileFeatures(const Attributes& a, Builder&)
      : keeps_(a.flag("keep", false)),
        taken_(a.flag("taken", false)),
        tiles_(a.integer("tiles", 1)),
        patches_(a.integer("patches", 1)) {}

  void forward(Play& play, Stream& s) const override {
    if (keeps_) {
      s.seen.kept.push_back(s.hidden);
      if (taken_) s.seen.deep.push_back(s.hidden);
      return;
    }
    Torch& t = play.torch;
    const std::int64_t images = s.hidden->sizes[0];
    s.hidden = of_patches(t, s.hidden, images);
    Tensor others = stack_last(t, s.seen.deep);
    others = of_patches(t, others, images);
    Tensor all = t.cat({s.hidden, others}, 3);
    others.reset();
    s.hidden = all;
    s.seen = {};
    s.arguments = {};
    s.seen.kept.push_back(std::move(all));  // vision_outputs, of the model that this one is a part of
  }

 private:
  Tensor of_patches(Torch& t, const Tensor& x, std::int64_t images) const {
    const Tensor by_tile = t.reshape(x, {images, tiles_, x->sizes[1] / tiles_, -1});
    return t.slice(by_tile, 2, 0, patches_);
  }

  bool keeps_;
  bool taken_;  ///< Of a layer: its output is among the features.
  std::int64_t tiles_;
  std::int64_t patches_;
};

}  // namespace

extern const OpType tile_features;
const OpType tile_features{"tile_features", make_module<TileFeatures>};

}  // namespace oomplan::estimator::ops
