// SegformerDecodeHead, which makes logits of a quarter of the picture's size of the features of all stages; where
// pictures have one label each, the mean of the last ones.
#include <algorithm>

#include "modules/linear.hpp"
#include "modules/pictures.hpp"
#include "torch/stacking.hpp"
#include "torch/upsampling.hpp"

namespace oomplan::estimator::ops {
namespace {

class PixelDecoder final : public Module {
 public:
  PixelDecoder(const Attributes& a, Builder& b) : pixels_(b.facts.task == Task::segmentation) {
    if (!a.flag("reshaped", true)) a.unmodelled("a last stage that is left in rows");
    if (!pixels_) return;
    if (b.facts.labels == 1) a.unmodelled("a mask of one label");
    const std::int64_t width = a.integer("width");
    const std::string m = a.module() + ".";
    for (const char* of_stage : {"width_0", "width_1", "width_2", "width_3"}) {
      const std::string name = m + "linear_projections." + std::to_string(projections_.size()) + ".proj";
      projections_.emplace_back(b, name, a.integer(of_stage), width, true);
    }
    fuse_ = Conv2d(b, m + "linear_fuse", {.in = saturating_mul(4, width), .out = width, .bias = false});
    norm_ = BatchNorm2d(b, m + "batch_norm", width);
    dropout_ = a.number("dropout", 0.0);
    classifier_ = Conv2d(b, m + "classifier", {.in = width, .out = b.facts.labels});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    if (!pixels_) {
      s.taken = s.hidden;  // What the base model returned.
      const Dims& sizes = s.taken->sizes;
      s.hidden = mean_of_rows(t, t.reshape(t.permute(s.taken, {0, 2, 3, 1}), {sizes[0], -1, sizes[1]}));
      return;
    }
    s.hidden.reset();
    std::vector<Tensor> all;
    for (std::size_t i = 0; i < projections_.size(); ++i) all.push_back(resized(play, s.taken_states, i));
    std::vector<Tensor> turned(all.rbegin(), all.rend());
    Tensor hidden = cat_all(t, turned, 1);
    hidden = fuse_(play, hidden);
    hidden = norm_(play, hidden);
    hidden = t.relu(hidden);
    hidden = t.dropout(hidden, dropout_);
    s.hidden = classifier_(play, hidden);
  }

 private:
  Tensor resized(Play& play, const std::vector<Tensor>& features, std::size_t i) const {
    Torch& t = play.torch;
    const Dims& sizes = features[i]->sizes;
    Tensor x = t.transpose(t.view(features[i], {sizes[0], sizes[1], -1}), 1, 2);
    x = t.transpose(projections_[i](play, x), 1, 2);
    x = t.reshape(x, {sizes[0], -1, sizes[2], sizes[3]});
    return upsample_bilinear(t, x, features[0]->sizes[2], features[0]->sizes[3]);
  }

  bool pixels_;
  double dropout_ = 0.0;
  std::vector<Linear> projections_{};
  Conv2d fuse_{}, classifier_{};
  BatchNorm2d norm_{};
};

}  // namespace

extern const OpType pixel_decoder;
const OpType pixel_decoder{"pixel_decoder", make_module<PixelDecoder>};

}  // namespace oomplan::estimator::ops
