// Llama4VisionModel before its layers: patches unfolded from a picture of one size and projected by a linear layer, a
// token of the class behind them, learned positions, and the complex numbers by which attention turns.
#include "modules/linear.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class UnfoldedPatches final : public Module {
 public:
  UnfoldedPatches(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        size_(a.integer("image_size")),
        width_(a.integer("width")),
        numbers_(saturating_mul(channels_, saturating_mul(a.integer("patch_size"), a.integer("patch_size")))) {
    const std::int64_t side = size_ / a.integer("patch_size");
    patches_ = saturating_mul(side, side);
    const std::string tower = a.module().substr(0, a.module().rfind('.') + 1);
    class_ = b.weight(tower + "class_embedding", {width_}, Part::embedding);
    positions_ = b.weight(tower + "positional_embedding_vlm", {patches_ + 1, width_}, Part::embedding);
    linear_ = Linear(b, a.module() + ".linear", numbers_, width_, false);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    freqs_ = b.torch.empty({1, patches_ + 1, a.quotient("width", "heads")}, DType::fp32, "buffer");
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {tiles_of(f), channels_, size_, size_});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t tiles = s.pixels->sizes[0];
    Tensor hidden = t.empty({tiles, numbers_, patches_}, s.pixels->dtype, "aten::im2col");
    hidden = linear_(play, t.permute(hidden, {0, 2, 1}));
    ask_for_gradient(play.facts, hidden);
    hidden = t.cat({hidden, t.expand(class_, {tiles, 1, width_})}, 1);
    s.hidden = t.add(t.view(hidden, {tiles, 1, patches_ + 1, width_}), t.to(positions_, hidden->dtype));
    s.arguments.cos[0] = freqs_;
  }

 private:
  std::int64_t channels_;
  std::int64_t size_;
  std::int64_t width_;
  std::int64_t numbers_;  ///< Of a patch.
  std::int64_t patches_ = 1;
  Tensor class_{}, positions_{}, freqs_{};
  Linear linear_{};
};

}  // namespace

extern const OpType unfolded_patches;
const OpType unfolded_patches{"unfolded_patches", make_module<UnfoldedPatches>};

}  // namespace oomplan::estimator::ops
