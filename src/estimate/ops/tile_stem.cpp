// MllamaVisionModel.forward up to its encoder: the patches of all tiles of an image, of which a processor always makes
// as many as there can be, a token of the class, gated positions in the tile and of the tile, rows filled up to a
// multiple of 8, and the mask of what is none of an image.
#include "modules/layer_norm.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class TileStem final : public Module {
 public:
  TileStem(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        size_(a.integer("image_size")),
        width_(a.integer("width")),
        tiles_(a.integer("tiles")),
        side_(size_ / a.integer("patch_size")),
        patches_(saturating_add(saturating_mul(side_, side_), 1)),
        filled_(saturating_mul(divided_up(patches_, 8), 8)) {
    const std::int64_t patch = a.integer("patch_size");
    const std::int64_t ratios = saturating_add(a.integer("ratios"), 1);
    const std::string m = a.module().substr(0, a.module().rfind('.') + 1);  // Its modules are the tower's own.
    class_ = b.weight(m + "class_embedding", {width_}, Part::embedding);
    convolution_ = PatchConvolution(b, m + "patch_embedding", saturating_mul(channels_, saturating_mul(patch, patch)),
                                    width_, false);
    position_gate_ = b.weight(m + "gated_positional_embedding.gate", {1}, Part::norm);
    positions_ = b.weight(m + "gated_positional_embedding.embedding", {patches_, width_}, Part::embedding);
    const std::int64_t of_tiles = saturating_mul(tiles_, width_);
    tile_positions_ =
        b.embedding(m + "gated_positional_embedding.tile_embedding", {ratios, saturating_mul(patches_, of_tiles)});
    tile_gate_ = b.weight(m + "pre_tile_positional_embedding.gate", {1}, Part::norm);
    tile_embedding_ = b.embedding(m + "pre_tile_positional_embedding.embedding", {ratios, of_tiles});
    norm_ = LayerNorm(b, m + "layernorm_pre", width_);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.count == 0) return;
    const std::int64_t images = saturating_mul(f.batch, f.images.count);
    send_pixels(t, f, s, {saturating_mul(images, tiles_), channels_, size_, size_});
    s.sent.push_back(t.empty({f.batch, f.images.count}, DType::int64, "batch"));          // aspect_ratio_ids
    s.sent.push_back(t.empty({f.batch, f.images.count, tiles_}, DType::int64, "batch"));  // aspect_ratio_mask
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t tiles = s.pixels->sizes[0];
    const std::int64_t images = tiles / tiles_;
    const Tensor grid = convolution_(play, s.pixels, {tiles, width_, side_, side_});
    ask_for_gradient(play.facts, grid);
    s.seen.kept.push_back(grid);  // patch_embeds
    s.hidden = t.transpose(t.view(grid, {tiles, width_, -1}), 1, 2);
    s.hidden = t.reshape(s.hidden, {images, tiles_, -1, width_});
    s.hidden = of_tile(t, s.hidden);
    s.hidden = t.reshape(s.hidden, {tiles, patches_ - 1, width_});
    s.hidden = t.cat({t.expand(class_, {tiles, 1, width_}), s.hidden}, 1);
    s.hidden = t.reshape(s.hidden, {images, tiles_, patches_, width_});
    s.hidden = placed(t, s.hidden);
    s.hidden = norm_(play, s.hidden);
    s.hidden = pad_rows(t, s.hidden);
    s.arguments.mask(Span::full) = mask(t, images, play.facts.weights);
    s.hidden = t.view(s.hidden, {images, -1, width_});
  }

 private:
  /// MllamaPrecomputedAspectRatioEmbedding
  Tensor of_tile(Torch& t, const Tensor& x) const {
    Tensor one = t.embedding(tile_embedding_, ids_of(t, x));
    one = t.reshape(one, {-1, tiles_, 1, width_});
    one = t.mul(one, t.tanh(tile_gate_));
    return t.add(x, one);
  }

  static Tensor ids_of(Torch& t, const Tensor& x) {
    Restore bucket(t.recorder.scope.bucket, Bucket::inputs);
    return t.empty({x->sizes[0], 1}, DType::int64, "batch");
  }

  /// MllamaPrecomputedPositionEmbedding
  Tensor placed(Torch& t, const Tensor& x) const {
    const Tensor rest = t.add_scalar(t.neg(t.tanh(position_gate_)));
    const Tensor in_tile = t.mul(rest, positions_);
    Tensor hidden = t.add(x, t.view(in_tile, {1, 1, patches_, width_}));
    Tensor tile = t.embedding(tile_positions_, ids_of(t, x));
    tile = t.reshape(tile, {x->sizes[0], tiles_, patches_, width_});
    const Tensor gated = t.mul(t.tanh(position_gate_), tile);
    hidden = t.add(hidden, gated);
    return hidden;
  }

  Tensor pad_rows(Torch& t, const Tensor& x) const {
    NodeRef node = t.record("ConstantPadNdBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::clone");
    });
    if (node) node->dims = x->sizes;
    Dims sizes = x->sizes;
    sizes[2] = filled_;
    return t.attach(node, t.empty(sizes, x->dtype, "aten::constant_pad_nd"));
  }

  /// _prepare_aspect_ratio_attention_mask: a number for each pair of an image's patches.
  Tensor mask(Torch& t, std::int64_t images, DType weights) const {
    InBucket scores(t, Bucket::attention_scores);
    const std::int64_t all = saturating_mul(tiles_, filled_);
    Tensor rows = t.empty({images, all, 1}, weights, "aten::repeat");
    rows = t.empty({images, all, 1}, weights, "aten::rsub");
    Tensor out = t.matmul(rows, t.transpose(rows, 1, 2));
    out = t.mul_scalar(out);
    return t.unsqueeze(out, 1);
  }

  std::int64_t channels_;
  std::int64_t size_;
  std::int64_t width_;
  std::int64_t tiles_;    ///< Of each image.
  std::int64_t side_;     ///< Patches of a row of a tile.
  std::int64_t patches_;  ///< Of a tile, with the class's token,
  std::int64_t filled_;   ///< … and with what fills it up.
  Tensor class_{}, position_gate_{}, positions_{}, tile_positions_{}, tile_gate_{}, tile_embedding_{};
  PatchConvolution convolution_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType tile_stem;
const OpType tile_stem{"tile_stem", make_module<TileStem>};

}  // namespace oomplan::estimator::ops
