// Gemma4UnifiedVisionEmbedder up to its projection: rows of pixels, one for each square of patches and as many of every
// picture whatever its size, normed and projected, with a learned position for each of a patch's two numbers.
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class MergedPatches final : public Module {
 public:
  MergedPatches(const Attributes& a, Builder& b) : tokens_(a.integer("tokens")), places_(a.integer("rows")) {
    const std::int64_t side = saturating_mul(a.integer("patch_size"), a.integer("pooled"));
    const std::int64_t width = a.integer("width");
    numbers_ = saturating_mul(3, saturating_mul(side, side));
    grid_of(b, side, side, tokens_);
    const std::string m = a.module().substr(0, a.module().rfind('.') + 1);  // Its modules are the tower's own.
    first_ = LayerNorm(b, m + "patch_ln1", numbers_);
    dense_ = Linear(b, m + "patch_dense", numbers_, width, true);
    second_ = LayerNorm(b, m + "patch_ln2", width);
    positions_ = b.weight(m + "pos_embedding", {places_, 2, width}, Part::embedding);
    third_ = LayerNorm(b, m + "pos_norm", width);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {tiles_of(f), tokens_, numbers_});
    if (f.images.count > 0) s.sent.push_back(t.empty({tiles_of(f), tokens_, 2}, DType::int64, "batch"));
    if (f.images.token_types) s.sent.push_back(t.empty({f.batch, f.length}, DType::int64, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor& weight = dense_.weight(play.facts);
    s.pixels = weight ? t.to(s.pixels, weight->dtype) : s.pixels;
    s.hidden = first_(play, s.pixels);
    s.hidden = dense_(play, s.hidden);
    s.hidden = second_(play, s.hidden);
    const Tensor added = placed(t, s);
    s.hidden = t.add(s.hidden, added);
    s.hidden = third_(play, s.hidden);
    s.sent.push_back(added);
    s.seen.kept.push_back(s.hidden);
  }

 private:
  /// (pos_embedding[clamped, axes] * valid).sum(-2)
  Tensor placed(Torch& t, Stream& s) const {
    const Dims places{s.pixels->sizes[0], tokens_, 2};
    const Tensor clamped = t.empty(places, DType::int64, "aten::clamp");
    Tensor valid;
    {
      const Tensor real = t.empty(places, DType::boolean, "aten::ne");
      valid = t.unsqueeze(t.empty(places, positions_->dtype, "aten::_to_copy"), 3);
    }
    const Tensor axes = t.empty({2}, DType::int64, "aten::arange");
    s.sent.insert(s.sent.end(), {clamped, valid, axes});  // Variables of the embedder's forward function.
    Tensor each = chosen(t, places, clamped);
    each = t.mul(std::exchange(each, {}), valid);
    return t.sum_dim(std::exchange(each, {}), 2, false);
  }

  Tensor chosen(Torch& t, const Dims& places, const Tensor& clamped) const {
    NodeRef node = t.record("IndexBackward0", {&positions_},
                            [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
    if (node) node->dims = positions_->sizes;
    t.save(node, 0, clamped);
    const Dims sizes{places[0], places[1], 2, positions_->sizes[2]};
    return t.attach(node, t.empty(sizes, positions_->dtype, "aten::index"));
  }

  std::int64_t tokens_;  ///< That a picture has room for.
  std::int64_t places_;
  std::int64_t numbers_ = 1;  ///< Of a square of patches.
  LayerNorm first_{}, second_{}, third_{};
  Linear dense_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType merged_patches;
const OpType merged_patches{"merged_patches", make_module<MergedPatches>};

}  // namespace oomplan::estimator::ops
