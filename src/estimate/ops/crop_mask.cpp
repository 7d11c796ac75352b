// Phi4MultimodalVisionModel between its embeddings and its layers: which patches are padding (patch_attention_mask), as
// the processor says of each crop, and the mask that layers get where some are (create_bidirectional_mask).
#include "modules/hd_crops.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class CropMask final : public Module {
 public:
  CropMask(const Attributes& a, Builder& b) {
    const CropSizes sizes{a.integer("image_size"), a.integer("patch_size")};
    side_ = sizes.side / sizes.patch;
    if (sizes.side % sizes.patch != 0 || side_ % 2 != 0) a.unmodelled("crops of an odd number of patches");
    const Images& i = b.facts.images;
    if (i.count > 0) padded_ = hd_crops(sizes, i.height, i.width).padded;
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.count == 0) return;
    s.sent.push_back(t.empty({saturating_mul(f.batch, f.images.count), 2}, DType::int64, "batch"));  // image_sizes
    s.sent.push_back(t.empty({tiles_of(f), side_, side_}, DType::fp32, "batch"));  // image_attention_mask
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t crops = s.hidden->sizes[0];
    const std::int64_t patches = side_ * side_;
    s.sent.push_back(t.empty({crops, side_, side_}, DType::boolean, "aten::_to_copy"));
    if (!padded_ || play.facts.attention == Attention::flash_attention_2) return;
    InBucket scores(t, Bucket::attention_scores);
    const Tensor columns = t.empty({crops, 1, 1, patches}, DType::boolean, "aten::index");
    const Dims square{crops, 1, patches, patches};
    const Tensor allowed = t.empty(square, DType::boolean, "aten::bitwise_and");
    const bool eager = play.facts.attention == Attention::eager;
    s.arguments.mask(Span::full) = eager ? t.empty(square, s.hidden->dtype, "aten::where") : allowed;
  }

 private:
  std::int64_t side_ = 2;  ///< Patches of a crop's.
  bool padded_ = false;
};

}  // namespace

extern const OpType crop_mask;
const OpType crop_mask{"crop_mask", make_module<CropMask>};

}  // namespace oomplan::estimator::ops
