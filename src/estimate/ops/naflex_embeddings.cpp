// Siglip2VisionEmbeddings: patches that come as rows, and a square grid of learned positions, which is resized to each
// picture. Where a processor fills all pictures up to so many patches (`room`), a mask of the real ones for what
// follows.
#include <limits>

#include "modules/linear.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class NaflexEmbeddings final : public Module {
 public:
  NaflexEmbeddings(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        room_(a.integer("room", b.facts.images.room)),
        grid_(grid_of(b, a.integer("patch_size"), a.integer("patch_size"), room_ > 0 ? room_ : unlimited)) {
    const std::int64_t patch = a.integer("patch_size");
    pixels_ = saturating_mul(a.integer("channels"), saturating_mul(patch, patch));
    const std::int64_t places = a.integer("positions");
    while ((side_ + 1) * (side_ + 1) <= places) ++side_;
    embedding_ = Linear(b, a.module() + ".patch_embedding", pixels_, width_, true);
    positions_ = b.embedding(a.module() + ".position_embedding", {places, width_});
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    const std::int64_t pictures = tiles_of(f);
    send_pixels(t, f, s, {pictures, patches(), pixels_});
    if (pictures == 0) return;
    s.sent.push_back(t.empty({pictures, 2}, DType::int64, "batch"));  // spatial_shapes
    const DType of_mask = room_ > 0 ? DType::int32 : DType::int64;
    s.sent.push_back(t.empty({pictures, patches()}, of_mask, "batch"));  // pixel_attention_mask
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor embedded = embedding_(play, t.to(s.pixels, positions_->dtype));
    ask_for_gradient(play.facts, embedded);
    s.hidden = t.add(embedded, placed(t, s.pixels->sizes[0]));
    if (room_ > 0) mask(play, s);
  }

 private:
  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

  std::int64_t real_patches() const { return saturating_mul(grid_.height, grid_.width); }
  std::int64_t patches() const { return room_ > 0 ? room_ : real_patches(); }

  /// create_bidirectional_mask: none where no patch is padding.
  void mask(Play& play, Stream& s) const {
    Torch& t = play.torch;
    if (real_patches() == room_ || play.facts.attention == Attention::flash_attention_2) return;
    InBucket scores(t, Bucket::attention_scores);
    const std::int64_t pictures = s.hidden->sizes[0];
    const Tensor columns = t.empty({pictures, 1, 1, room_}, DType::boolean, "aten::index");
    const Dims square{pictures, 1, room_, room_};
    const Tensor allowed = t.empty(square, DType::boolean, "aten::bitwise_and");
    const bool eager = play.facts.attention == Attention::eager;
    s.arguments.mask(Span::full) = eager ? t.empty(square, s.hidden->dtype, "aten::where") : allowed;
  }

  /// resize_positional_embeddings. Each picture is put into the whole in place (autograd's CopySlices); from the third
  /// on nothing is other than in the second.
  Tensor placed(Torch& t, std::int64_t pictures) const {
    const Tensor square = t.view(t.slice(positions_, 0, 0, side_ * side_), {side_, side_, width_});
    const Tensor grid = t.unsqueeze(t.permute(square, {2, 0, 1}), 0);
    Tensor all = t.empty({pictures, patches(), width_}, positions_->dtype, "aten::empty");
    for (std::int64_t i = 0; i < std::min<std::int64_t>(pictures, 2); ++i) {
      NodeRef node = t.record("UpsampleBilinear2DAaBackward0", {&grid},
                              [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
      if (node) node->dims = grid->sizes;
      const Dims sizes{1, width_, grid_.height, grid_.width};
      const Tensor one = t.attach(node, t.empty(sizes, grid->dtype, "aten::_upsample_bilinear2d_aa"));
      all = written(t, all, one);
    }
    return all;
  }

  static Tensor written(Torch& t, const Tensor& all, const Tensor& one) {
    NodeRef node = t.record("CopySlices", {&all, &one}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor result = torch.empty(g.in[0]->sizes, g.in[0]->dtype, "aten::new_empty_strided");
      if (n.needs(1)) g.out[1] = torch.empty(n.dims, g.in[0]->dtype, "aten::clone");
      if (n.needs(0)) g.out[0] = result;
    });
    if (node) node->dims = one->sizes;
    return t.attach(node, all);
  }

  std::int64_t width_;
  std::int64_t room_;  ///< 0: pictures have no more than their own patches.
  Grid grid_;
  std::int64_t pixels_ = 1;  ///< Of a patch.
  std::int64_t side_ = 1;    ///< Of the grid of positions.
  Linear embedding_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType naflex_embeddings;
const OpType naflex_embeddings{"naflex_embeddings", make_module<NaflexEmbeddings>};

}  // namespace oomplan::estimator::ops
