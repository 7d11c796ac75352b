// inputs_embeds.masked_scatter(mask, features): the features of images in place of the tokens that stand for them.
#include <fmt/format.h>

#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class MergeImages final : public Module {
 public:
  MergeImages(const Attributes& a, Builder&) : split_(a.flag("split", false)), returned_(a.flag("returned", false)) {}

  void forward(Play& play, Stream& s) const override {
    if (play.facts.images.count == 0) return;
    Torch& t = play.torch;
    s.seen.kept.push_back(s.seen.features);
    s.seen.features = t.to(in_rows(t, s.seen.features), s.inputs_embeds->dtype);
    if (returned_) s.returned.push_back(s.seen.features);
    s.seen.mask = t.unsqueeze(t.empty(s.input_ids->sizes, DType::boolean, "aten::eq"), 2);
    s.inputs_embeds = masked_scatter(t, s.inputs_embeds, s.seen.mask, s.seen.features);
    s.hidden = s.inputs_embeds;
  }

 private:
  Tensor in_rows(Torch& t, const Tensor& features) const {
    if (!split_) return features;
    const std::int64_t width = features->sizes.back();
    return cat_of_parts(t, features, {features->numel() / width, width});
  }

  bool split_;  ///< The features of each image are an entry of a list, from which they are put together again.
  bool returned_;  ///< The model's output has them too.
};

}  // namespace

extern const OpType merge_images;
const OpType merge_images{"merge_images", make_module<MergeImages>};

}  // namespace oomplan::estimator::ops
