// The end of SegformerStage.forward: a norm, and a copy with channels first. Where pixels are labelled, the model keeps
// it until its forward function returns.
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"

namespace oomplan::estimator::ops {
namespace {

class StageFeatures final : public Module {
 public:
  StageFeatures(const Attributes& a, Builder& b) : norm_(b, a.module(), a.integer("width")) {
    const PictureSize size = picture_size(b, a.integer("image_size"));
    height_ = divided_up(size.height, a.integer("step"));
    columns_ = divided_up(size.width, a.integer("step"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.hidden = norm_(play, s.hidden);
    const Tensor grid = t.reshape(s.hidden, {s.hidden->sizes[0], height_, columns_, -1});
    s.hidden = t.contiguous(t.permute(grid, {0, 3, 1, 2}));
    if (play.facts.task == Task::segmentation) s.taken_states.push_back(s.hidden);
  }

 private:
  LayerNorm norm_;
  std::int64_t height_ = 1;
  std::int64_t columns_ = 1;
};

}  // namespace

extern const OpType stage_features;
const OpType stage_features{"stage_features", make_module<StageFeatures>};

}  // namespace oomplan::estimator::ops
