// inputs_embeds.masked_scatter(mask, features): the features of images in place of the tokens that stand for them.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class MergeImages final : public Module {
 public:
  MergeImages(const Attributes& a, Builder& b)
      : split_(a.flag("split", false)),
        returned_(a.flag("returned", false)),
        other_mask_(a.flag("other_mask", false)),
        kept_(a.flag("kept", true)),
        packed_(a.flag("packed", false)) {
    if (packed_) return;
    const Images& i = b.facts.images;
    check_room(b, saturating_mul(saturating_mul(i.count, i.tiles), tokens_of(a, b)));
  }

  void forward(Play& play, Stream& s) const override {
    if (play.facts.images.count == 0) return;
    Torch& t = play.torch;
    if (!packed_ && kept_) s.seen.kept.push_back(s.seen.features);
    s.seen.features = t.to(in_rows(t, s.seen.features), s.inputs_embeds->dtype);
    if (returned_) s.returned.push_back(s.seen.features);
    s.seen.mask = t.unsqueeze(t.empty(s.input_ids->sizes, DType::boolean, "aten::eq"), 2);
    if (other_mask_) s.seen.kept.push_back(t.empty(s.input_ids->sizes, DType::boolean, "aten::eq"));
    s.inputs_embeds = masked_scatter(t, s.inputs_embeds, s.seen.mask, s.seen.features);
    s.hidden = s.inputs_embeds;
    for (Tensor& deep : s.seen.deep) {
      s.seen.kept.push_back(deep);
      deep = in_rows(t, deep);
    }
  }

 private:
  /// Of one tile, or clip: as its processor counts those of a clip (`heard`), as given, or a token for each square of
  /// patches.
  static std::int64_t tokens_of(const Attributes& a, Builder& b) {
    if (a.flag("heard", false)) return b.facts.images.tokens;
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

  Tensor in_rows(Torch& t, const Tensor& features) const {
    if (!split_) return features;
    const std::int64_t width = features->sizes.back();
    return cat_of_parts(t, features, {features->numel() / width, width});
  }

  bool split_;       ///< The features of each image are an entry of a list, from which they are put together again.
  bool returned_;    ///< The model's output has them too.
  bool other_mask_;  ///< Its forward function has a mask of videos too.
  bool kept_;        ///< The tower's own output lives until the model returns.
  bool packed_;      ///< The features came packed: no output of the tower's holds them, and their tokens are counted.
};

}  // namespace

extern const OpType merge_images;
const OpType merge_images{"merge_images", make_module<MergeImages>};

}  // namespace oomplan::estimator::ops
