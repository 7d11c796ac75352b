// pack_image_features of LLaVA-NeXT and LLaVA-OneVision: of each picture the features of itself and of its tiles, put
// together as they lie in it, cut to what the picture fills, resized where that is too much, each row of patches with a
// learned token behind it.
#include "modules/best_size.hpp"
#include "modules/vision.hpp"
#include "torch/stacking.hpp"
#include "torch/upsampling.hpp"

namespace oomplan::estimator::ops {
namespace {

class PackTiles final : public Module {
 public:
  PackTiles(const Attributes& a, Builder& b) : size_(best_size(a, b)), width_(a.integer("width")) {
    newline_ = b.weight(a.module(), {width_}, Part::embedding);
    check_room(b, saturating_mul(b.facts.images.count, size_.tokens()));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    std::vector<Tensor> packed;
    {
      const std::vector<Tensor> pictures = split_all(t, s.hidden, size_.tiles());
      Tensor last;
      for (const Tensor& picture : pictures) {
        last = size_.down == 0 ? uncut(t, picture) : cut(t, picture);
        packed.push_back(last);
      }
      const Tensor lengths = t.empty({static_cast<std::int64_t>(packed.size())}, DType::int64, "aten::_to_copy");
    }
    s.hidden.reset();
    s.pixels.reset();
    s.hidden = cat_all(t, packed, 0);
    for (Tensor& one : packed) s.seen.kept.push_back(std::move(one));
  }

 private:
  Tensor uncut(Torch& t, const Tensor& picture) const {
    const Tensor feature = t.select(picture, 0);
    return t.cat({feature, t.to(t.unsqueeze(newline_, 0), feature->dtype)}, 0);
  }

  Tensor cut(Torch& t, const Tensor& picture) const {
    const Tensor base = t.select(picture, 0);
    Tensor feature = t.slice(picture, 0, 1, picture->sizes[0] - 1);
    feature = t.view(feature, {size_.down, size_.across, size_.side, size_.side, -1});
    feature = t.contiguous(t.permute(feature, {4, 0, 2, 1, 3}));
    feature = t.view(feature, {width_, size_.down * size_.side, size_.across, size_.side});
    feature = t.view(feature, {width_, size_.down * size_.side, size_.across * size_.side});
    if (size_.first > 0) {
      feature = t.slice(feature, size_.of_rows ? 1 : 2, size_.first, size_.of_rows ? size_.rows : size_.columns);
    }
    if (size_.resized) {
      feature = t.unsqueeze(feature, 0);
      feature = t.select(upsample_bilinear(t, feature, size_.less_rows, size_.less_columns), 0);
    }
    const Tensor end = t.expand(t.unsqueeze(t.unsqueeze(newline_, 1), 2), {width_, feature->sizes[1], 1});
    feature = t.cat({feature, t.to(end, feature->dtype)}, 2);
    feature = t.transpose(t.view(feature, {width_, -1}), 0, 1);
    return t.cat({t.to(base, feature->dtype), feature}, 0);
  }

  BestSize size_;
  std::int64_t width_;
  Tensor newline_{};
};

}  // namespace

extern const OpType pack_tiles;
const OpType pack_tiles{"pack_tiles", make_module<PackTiles>};

}  // namespace oomplan::estimator::ops
