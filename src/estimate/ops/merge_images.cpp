// inputs_embeds.masked_scatter(mask, features): the features of images in place of the tokens that stand for them.
#include <fmt/format.h>

#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class MergeImages final : public Module {
 public:
  MergeImages(const Attributes& a, Builder& b) : split_(a.flag("split", false)), returned_(a.flag("returned", false)) {
    check_room(b, tokens_of(a, b));
  }

  void forward(Play& play, Stream& s) const override {
    if (play.facts.images.count == 0) return;
    Torch& t = play.torch;
    s.seen.kept.push_back(s.seen.features);
    s.seen.features = t.to(in_rows(t, s.seen.features), s.inputs_embeds->dtype);
    if (returned_) s.returned.push_back(s.seen.features);
    s.seen.mask = t.unsqueeze(t.empty(s.input_ids->sizes, DType::boolean, "aten::eq"), 2);
    s.inputs_embeds = masked_scatter(t, s.inputs_embeds, s.seen.mask, s.seen.features);
    s.hidden = s.inputs_embeds;
    for (Tensor& deep : s.seen.deep) {
      s.seen.kept.push_back(deep);
      deep = in_rows(t, deep);
    }
  }

 private:
  /// Of one tile: as given, or a token for each square of patches.
  static std::int64_t tokens_of(const Attributes& a, Builder& b) {
    if (a.find("tokens") != nullptr) return a.integer("tokens");
    const std::int64_t patch = a.integer("patch_size");
    const std::int64_t merge = a.integer("merge", 1);
    if (a.find("image_size") != nullptr) {
      const std::int64_t side = a.integer("image_size") / patch / merge;
      return saturating_mul(side, side);
    }
    const Grid grid = grid_of(b, patch, saturating_mul(patch, merge));
    return saturating_mul(grid.height / merge, grid.width / merge);
  }

  /// transformers raises a ValueError where tokens and features are not as many.
  static void check_room(Builder& b, std::int64_t tokens) {
    const Images& i = b.facts.images;
    const std::int64_t all = saturating_mul(saturating_mul(i.count, i.tiles), tokens);
    if (all <= b.facts.length) return;
    Diagnostic d;
    d.code = "estimate/too-long";
    d.message = fmt::format("the images of a row are {} tokens, and the row has {}", all, b.facts.length);
    d.where = i.at;
    b.problems.push_back(std::move(d));
  }

  Tensor in_rows(Torch& t, const Tensor& features) const {
    if (!split_) return features;
    const std::int64_t width = features->sizes.back();
    return cat_of_parts(t, features, {features->numel() / width, width});
  }

  bool split_;     ///< The features of each image are an entry of a list, from which they are put together again.
  bool returned_;  ///< The model's output has them too.
};

}  // namespace

extern const OpType merge_images;
const OpType merge_images{"merge_images", make_module<MergeImages>};

}  // namespace oomplan::estimator::ops
