// MllamaModel.forward between its parts: the features become what cross attention sees, and a mask says which tiles
// each token of the text may (_prepare_cross_attention_mask).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class CrossImages final : public Module {
 public:
  CrossImages(const Attributes& a, Builder&)
      : tiles_(a.integer("tiles")), patches_(a.integer("patches")), width_(a.integer("width")) {}

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.count == 0) return;
    s.sent.push_back(t.empty({f.batch, f.length, f.images.count, tiles_}, DType::int64, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    const Facts& f = play.facts;
    if (f.images.count == 0) return;
    Torch& t = play.torch;
    s.arguments.encoder = t.reshape(s.seen.features, {-1, patches_, width_});
    s.seen.features.reset();
    InBucket scores(t, Bucket::attention_scores);
    const std::int64_t tokens = saturating_mul(saturating_mul(f.images.count, tiles_), patches_);
    const Dims sizes{f.batch, 1, f.length, tokens};
    Tensor mask = t.empty(sizes, DType::int64, "aten::repeat_interleave");
    const Tensor inverted = t.to(t.empty(sizes, DType::fp32, "aten::rsub"), f.weights);
    {
      const Tensor where = t.empty(sizes, DType::boolean, "aten::_to_copy");
      mask = t.empty(sizes, f.weights, "aten::masked_fill");
    }
    Tensor any;
    {
      const Tensor seen = t.empty(sizes, DType::boolean, "aten::ne");
      any = t.empty({f.batch, 1, f.length}, DType::boolean, "aten::any");
    }
    s.arguments.row_mask = t.unsqueeze(t.to(any, f.weights), 3);
    s.arguments.cross_mask = mask;
  }

 private:
  std::int64_t tiles_;
  std::int64_t patches_;
  std::int64_t width_;
};

}  // namespace

extern const OpType cross_images;
const OpType cross_images{"cross_images", make_module<CrossImages>};

}  // namespace oomplan::estimator::ops
