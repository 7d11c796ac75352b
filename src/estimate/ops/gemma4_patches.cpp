// Gemma4VisionModel.forward before its encoder: rows of pixels, as many of every picture whatever its size, and a
// learned position for each number of a patch's place.
#include "modules/linear.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class Gemma4Patches final : public Module {
 public:
  Gemma4Patches(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        numbers_(saturating_mul(3, saturating_mul(a.integer("patch_size"), a.integer("patch_size")))),
        patches_(saturating_mul(a.integer("tokens"), saturating_mul(a.integer("pooled"), a.integer("pooled")))),
        input_proj_(b, a.module() + ".input_proj", numbers_, width_, false),
        table_(b.weight(a.module() + ".position_embedding_table", {2, a.integer("rows"), width_}, Part::embedding)) {
    const std::int64_t patch = a.integer("patch_size");
    const Grid grid = grid_of(b, patch, saturating_mul(patch, a.integer("pooled")), patches_);
    padded_ = grid.height * grid.width < patches_;
    if (padded_ && b.facts.images.count > 0 && b.facts.attention == Attention::flash_attention_2)
      a.unmodelled("images of fewer patches than there is room for, under flash attention,");
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {tiles_of(f), patches_, numbers_});
    if (f.images.count > 0) s.sent.push_back(t.empty(places(f), DType::int64, "batch"));
    if (f.images.token_types) s.sent.push_back(t.empty({f.batch, f.length}, DType::int64, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Tensor each = t.empty(places(play.facts), DType::boolean, "aten::eq");
    s.position_mask = t.empty({tiles_of(play.facts), patches_}, DType::boolean, "aten::all");
    each.reset();
    s.hidden = embedded(play, s);
    s.inputs_embeds = s.hidden;
    mask(play, s);
  }

 private:
  /// Of each patch, two numbers.
  Dims places(const Facts& f) const { return {tiles_of(f), patches_, 2}; }

  Tensor embedded(Play& play, const Stream& s) const {
    Torch& t = play.torch;
    const Tensor& weight = input_proj_.weight(play.facts);
    Tensor pixels = t.add_scalar(s.pixels);
    pixels = t.mul_scalar(pixels);
    if (weight) pixels = t.to(pixels, weight->dtype);
    const Tensor hidden = input_proj_(play, pixels);
    const Tensor positions = positioned(t, play.facts, s.position_mask);
    return t.add(hidden, positions);
  }

  Tensor positioned(Torch& t, const Facts& f, const Tensor& padding) const {
    const Tensor clamped = t.empty(places(f), DType::int64, "aten::clamp");
    const Tensor x = t.embedding(t.select(table_, 0), t.select(clamped, 2));
    const Tensor y = t.embedding(t.select(table_, 0), t.select(clamped, 2));
    const Tensor sum = t.add(x, y);
    return t.where(t.unsqueeze(padding, 2), t.empty({}, sum->dtype, "aten::scalar_tensor"), sum);
  }

  /// create_bidirectional_mask, of ~padding_positions: for sdpa none where no patch is padding.
  void mask(Play& play, Stream& s) const {
    Torch& t = play.torch;
    const bool eager = play.facts.attention == Attention::eager;
    if (!padded_ && !eager) return;
    InBucket scores(t, Bucket::attention_scores);
    const std::int64_t pictures = tiles_of(play.facts);
    const Tensor real = t.empty({pictures, patches_}, DType::boolean, "aten::bitwise_not");
    const Tensor columns = t.empty({pictures, 1, 1, patches_}, DType::boolean, "aten::index");
    const Dims square{pictures, 1, patches_, patches_};
    const Tensor allowed = t.empty(square, DType::boolean, "aten::bitwise_and");
    s.arguments.mask(Span::full) = eager ? t.empty(square, s.hidden->dtype, "aten::where") : allowed;
  }

  std::int64_t width_;
  std::int64_t numbers_;  ///< Of a patch.
  std::int64_t patches_;  ///< That a picture has room for.
  Linear input_proj_;
  Tensor table_;
  bool padded_ = false;
};

}  // namespace

extern const OpType gemma4_patches;
const OpType gemma4_patches{"gemma4_patches", make_module<Gemma4Patches>};

}  // namespace oomplan::estimator::ops
