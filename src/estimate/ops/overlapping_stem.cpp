// SegformerOverlapPatchEmbeddings, which each stage begins with: a convolution whose steps are shorter than its kernel,
// and a norm. The first one takes pictures, which come with a label for each pixel where that is the task.
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class OverlappingStem final : public Module {
 public:
  OverlappingStem(const Attributes& a, Builder& b)
      : first_(a.flag("first", false)),
        channels_(a.integer("channels")),
        size_(picture_size(b, a.integer("image_size", 1))),
        labels_(first_ && b.facts.task == Task::segmentation) {
    const std::int64_t kernel = a.integer("kernel");
    const std::int64_t width = a.integer("width");
    // What later steps know of a stage's height is the picture's, cut by the product of steps.
    if (kernel % 2 == 0) a.unmodelled("patches of an even size");
    const Conv2d::Shape shape{
        .in = channels_, .out = width, .kernel = kernel, .stride = a.integer("stride"), .padding = kernel / 2};
    convolution_ = Conv2d(b, a.module() + ".proj", shape);
    norm_ = LayerNorm(b, a.module() + ".layer_norm", width);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (first_) send_pixels(t, f, s, {f.batch, channels_, size_.height, size_.width});
    if (labels_) s.labels = t.empty({f.batch, size_.height, size_.width}, DType::int64, "batch");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.inputs_embeds = first_ ? s.pixels : s.hidden;  // The model's name for what the stage is given.
    s.hidden.reset();
    const Tensor grid = convolution_(play, s.inputs_embeds);
    s.hidden = norm_(play, t.transpose(t.view(grid, {grid->sizes[0], grid->sizes[1], -1}), 1, 2));
  }

 private:
  bool first_;
  std::int64_t channels_;
  PictureSize size_;
  bool labels_;
  Conv2d convolution_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType overlapping_stem;
const OpType overlapping_stem{"overlapping_stem", make_module<OverlappingStem>};

}  // namespace oomplan::estimator::ops
